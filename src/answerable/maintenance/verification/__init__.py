"""Compares a library with its sources and with itself, and repairs the differences."""

from answerable.maintenance.verification.findings import Finding, Repair, VerifyReport
from answerable.maintenance.verification.verifying import SAMPLE, VerifyOptions, verify

__all__ = ["SAMPLE", "Finding", "Repair", "VerifyOptions", "VerifyReport", "verify"]
