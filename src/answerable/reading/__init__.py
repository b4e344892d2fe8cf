"""Reads a question and a passage together: does it answer, and with which words?"""
