package cursor

import "cursortray/proxy/money"

// Money is an exact amount of US dollars.
type Money = money.Amount
