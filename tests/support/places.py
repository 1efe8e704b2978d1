"""Where the repository stands, for modules that need it while tests are collected (tests take the fixture `root`)."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
