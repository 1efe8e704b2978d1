"""The kernel's account of what a sandbox holds: pages, files in memory, pipes, and its own records of all that."""

import os
from typing import ClassVar

_ENOUGH = 1 << 14


class OwnKernel:
    """The account of a kernel that runs this sandbox alone, such as gVisor's: /proc/meminfo is about nothing else."""

    def held(self) -> int:
        """Bytes of processes and of files in memory."""
        with open("/proc/meminfo", encoding="ascii") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("AnonPages:"))

    def killed(self) -> int:
        """None: such a kernel ends no process because there is too little memory."""
        return 0


class Account:
    """The account of a control group, read through descriptors that the sandbox inherits.

    Args:
        descriptors: Of the group's `FILES`.

    Attributes:
        descriptors: The same. A session must not have them.
    """

    FILES: ClassVar = ("memory.current", "memory.stat", "memory.events")

    def __init__(self, descriptors: list[int]) -> None:
        self.descriptors = descriptors

    def held(self) -> int:
        """Bytes, beside the contents of files on disk, which the kernel lets go of where there is no room."""
        whole, stat = int(self._text(0)), self._table(1)
        return whole - stat.get("active_file", 0) - stat.get("inactive_file", 0)

    def killed(self) -> int:
        """The number of processes that the kernel has ended because the group held too much."""
        return self._table(2).get("oom_kill", 0)

    def _table(self, place: int) -> dict[str, int]:
        return {name: int(count) for name, count in (line.split() for line in self._text(place).splitlines())}

    def _text(self, place: int) -> str:
        return os.pread(self.descriptors[place], _ENOUGH, 0).decode()
