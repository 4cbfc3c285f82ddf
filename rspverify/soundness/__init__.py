"""Thm. 1 of the RSP paper: does every machine execution match an execution of the source?"""
