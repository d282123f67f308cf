# Begins the guest (guest.py) anew without the environment of the server that it runs on: programs are not to see it.
import os, sys

if os.environ.get("EVERTURN_GUEST") != "clean":
    PATH = os.environ.get("PATH") or "/usr/local/bin:/usr/bin:/bin"
    FIXED = {"LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", "EVERTURN_GUEST": "clean"}
    os.execve(sys.executable, [sys.executable, "-s", "-B", os.path.abspath(__file__)], {**FIXED, "PATH": PATH, "HOME": os.getcwd()})
