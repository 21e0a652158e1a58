"""Linear programs, solved by HiGHS."""
