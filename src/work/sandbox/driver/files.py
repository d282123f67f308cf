# Files below a working folder that programs have had. What they left there, links, folders that nobody may enter, paths that are too long for the
# kernel, hinders nobody: folders are entered one by one, and no link is followed. Part of the driver's text (driver.py), before it.
DEEPEST = 100  # folders in folders


def entered(name, at=None):
    """Opens a folder, whatever its mode is."""
    status = os.stat(name, dir_fd=at, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode) and status.st_mode & 0o700 != 0o700:
        os.chmod(name, status.st_mode & 0o7777 | 0o700, dir_fd=at)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)


class Folder:
    """The folder of a path, for as long as it is entered."""

    def __init__(self, root, path, isMade=False):
        self.root, (*self.folders, self.name), self.isMade = root, path.split("/"), isMade

    def __enter__(self):
        self.at = entered(self.root)
        try:
            for folder in self.folders:
                if self.isMade:
                    make_folder(folder, self.at)
                inner = entered(folder, self.at)
                os.close(self.at)
                self.at = inner
        except BaseException:
            os.close(self.at)
            raise
        return self.name, self.at

    def __exit__(self, *_):
        os.close(self.at)


def make_folder(name, at):
    """Makes a folder, in place of what is there and is none."""
    try:
        if stat.S_ISDIR(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            return
        os.unlink(name, dir_fd=at)
    except FileNotFoundError:
        pass
    os.mkdir(name, dir_fd=at)


def write(root, path, content, isMore=False):
    """Writes a new file, in place of what is there; or goes on with one."""
    with Folder(root, path, isMade=True) as (name, at):
        if not isMore:
            remove(name, at)
        how = os.O_APPEND if isMore else os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(name, os.O_WRONLY | os.O_NOFOLLOW | how, 0o666, dir_fd=at), "wb") as file:
            file.write(content)


def remove(name, at):
    """Removes what is there. What is in the folders of a folder is moved up into it first, so that none is too deep."""
    try:
        status = os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode):
        return os.unlink(name, dir_fd=at)
    top, moved, count = entered(name, at), os.urandom(8).hex(), 0
    while names := os.listdir(top):
        for one in names:
            if not stat.S_ISDIR(os.stat(one, dir_fd=top, follow_symlinks=False).st_mode):
                os.unlink(one, dir_fd=top)
                continue
            inner = entered(one, top)
            for below in os.listdir(inner):
                if stat.S_ISDIR(os.stat(below, dir_fd=inner, follow_symlinks=False).st_mode):
                    os.close(entered(below, inner))
                os.rename(below, f"{moved}-{count}", src_dir_fd=inner, dst_dir_fd=top)
                count += 1
            os.close(inner)
            os.rmdir(one, dir_fd=top)
    os.close(top)
    os.rmdir(name, dir_fd=at)


def part(root, path, begin, most):
    """Bytes of a file, whatever its mode is; None if it is no file."""
    with Folder(root, path) as (name, at):
        status = os.stat(name, dir_fd=at, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            return None
        if not status.st_mode & 0o400:
            os.chmod(name, status.st_mode & 0o7777 | 0o400, dir_fd=at)
        with os.fdopen(os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=at), "rb") as file:
            file.seek(begin)
            return file.read(most)


def files_below(root):
    """The path of each file and its size. A folder that is too deep to be looked into has a slash at its end. Bytes of a name that are not UTF-8 stand
    as surrogates, as Python has them."""
    os.close(entered(root))
    for folder, folders, names, at in os.fwalk(root):
        below = "" if folder == root else os.path.relpath(folder, root) + "/"
        for name in [*names, *folders]:
            try:
                status = os.stat(name, dir_fd=at, follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield below + name, status.st_size
                elif stat.S_ISDIR(status.st_mode) and below.count("/") == DEEPEST:
                    yield f"{below}{name}/", 0
                elif stat.S_ISDIR(status.st_mode):
                    os.close(entered(name, at))
            except FileNotFoundError:
                pass  # it has been removed since
        if below.count("/") == DEEPEST:
            folders.clear()
