"""Drives an agent: process, requests, conversations, sessions, variations, runs. The one room with I/O."""
