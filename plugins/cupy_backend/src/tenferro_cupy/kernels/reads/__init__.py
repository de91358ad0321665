"""Reads at computed positions: elements of a region that come from other places of whole arrays.

A concatenation is a choice by the index, a gather loads the index of what it loads. Read in this
order: ``read``, ``joined``, ``padded``, ``windows``, ``gathered``, ``scattered``, ``table``.
"""
