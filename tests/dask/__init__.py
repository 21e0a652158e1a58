"""Tests of zeronorm.dask."""
