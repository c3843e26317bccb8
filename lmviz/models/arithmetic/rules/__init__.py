"""How groups of terms become one number: one file for each rule, and one table of all of them."""
