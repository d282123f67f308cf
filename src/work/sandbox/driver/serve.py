# Begins the driver as the first process of a sandbox. The end of its text, after driver.py.
libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # programs have the same user: they are not to look into this process
signal.signal(signal.SIGINT, signal.SIG_IGN)  # theirs would reach it, since Python would handle it
os.chdir("/work")
Driver().serve()
