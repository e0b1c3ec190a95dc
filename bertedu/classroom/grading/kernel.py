"""What Linux itself refuses a process: files outside some folders (Landlock), and system calls (seccomp).

Both work without special rights, are inherited, and cannot be taken back. Where the system has neither, the functions
return False, and the grader says so.
"""

import ctypes
import os
import platform
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
NO_NEW_PRIVILEGES, KILL_WITH_PARENT, ADOPT_ORPHANS, DUMPABLE, SECCOMP = 38, 1, 36, 4, 22
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
READ = 1 << 0 | 1 << 2 | 1 << 3  # run, read a file, list a folder
FILE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15  # what can be said of a single file
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many rights each version of Landlock knows; later ones as the fifth
NEW_NETWORK, NEW_USERS, THREAD = 0x40000000, 0x10000000, 0x10000
EPERM, ENOSYS = 1, 38

# Numbers of system calls, on x86_64 and on aarch64 (None where there is no such call).
REFUSED = {
    "socket": (41, 198),
    "connect": (42, 203),
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "ptrace": (101, 117),
    "mount": (165, 40),
    "unshare": (272, 97),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "memfd_create": (319, 279),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "execveat": (322, 281),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "io_uring_setup": (425, 425),
    "shmget": (29, 194),
    "shmat": (30, 196),
}
CLONE, CLONE3 = (56, 220), (435, 435)
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def process_control(option: int, value: int) -> bool:
    """prctl; False where there is no such thing."""
    return LIBC is not None and hasattr(LIBC, "prctl") and LIBC.prctl(option, value, 0, 0, 0) == 0


def without_network() -> bool:
    """Move this process into a network of its own, in which there is nothing."""
    if LIBC is None or not hasattr(LIBC, "unshare"):
        return False
    return LIBC.unshare(NEW_NETWORK) == 0 or LIBC.unshare(NEW_USERS | NEW_NETWORK) == 0


def only_these_files(readable: Sequence[Path], writable: Sequence[Path]) -> bool:
    """From now on, read only below some folders and write only below others (or in single files)."""
    if LIBC is None or platform.system() != "Linux":
        return False
    version = LIBC.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    every = (1 << RIGHTS.get(version, 16)) - 1
    wanted = struct.pack("<Q", every) + (struct.pack("<Q", 3) if version >= 4 else b"")
    wanted += struct.pack("<Q", 3) if version >= 6 else b""
    rules = LIBC.syscall(CREATE_RULESET, ctypes.c_char_p(wanted), len(wanted), 0)
    if rules < 0:
        return False
    try:
        for places, rights in ((readable, READ), (writable, every)):
            for place in places:
                with suppress(OSError):
                    folder = os.open(place, os.O_PATH | os.O_CLOEXEC)
                    rights_here = rights & every & (-1 if place.is_dir() else FILE)
                    rule = ctypes.c_char_p(struct.pack("<Qi", rights_here, folder))
                    LIBC.syscall(ADD_RULE, rules, 1, rule, 0)
                    os.close(folder)
        return process_control(NO_NEW_PRIVILEGES, 1) and LIBC.syscall(RESTRICT_SELF, rules, 0) == 0
    finally:
        os.close(rules)


def no_processes_or_sockets() -> bool:
    """Refuse new processes and programs, sockets, signals to others, and looking into other processes."""
    if LIBC is None or platform.system() != "Linux" or platform.machine() not in MACHINES:
        return False
    code = program(*MACHINES[platform.machine()])
    memory = ctypes.create_string_buffer(b"".join(code), 8 * len(code))
    header = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(memory))
    buffer = ctypes.create_string_buffer(header, len(header))
    if not process_control(NO_NEW_PRIVILEGES, 1):
        return False
    return LIBC.prctl(SECCOMP, 2, ctypes.c_void_p(ctypes.addressof(buffer)), 0, 0) == 0


def program(column: int, machine: int) -> list[bytes]:
    """The filter: a program for the kernel's packet filter that tests the number of each call."""
    load, equal, at_least, bits, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, kill = 0x7FFF0000, 0x00050000, 0x80000000

    def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("<HBBI", code, yes, no, value)

    lines = [step(load, 4), step(equal, machine, 1, 0), step(answer, kill), step(load, 0)]
    lines += [step(at_least, 0x40000000, 0, 1), step(answer, kill)]  # the numbers of x32 programs
    for numbers in REFUSED.values():
        if numbers[column] is not None:
            lines += [step(equal, numbers[column] or 0, 0, 1), step(answer, refuse | EPERM)]
    lines += [step(equal, CLONE3[column], 0, 1), step(answer, refuse | ENOSYS)]  # so that the C library takes clone
    lines += [step(equal, CLONE[column], 0, 3), step(load, 16)]
    lines += [step(bits, THREAD, 1, 0), step(answer, refuse | EPERM), step(answer, allow)]
    return lines
