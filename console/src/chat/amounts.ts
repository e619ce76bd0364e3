/** $0.42; less than a cent has more digits. */
export const moneyText = (dollars: number): string => `$${dollars.toFixed(dollars > 0 && dollars < 0.01 ? 4 : 2)}`

/** 61,200. */
export const numberText = (amount: number): string => amount.toLocaleString("en")
