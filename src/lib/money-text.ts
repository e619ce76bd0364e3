/** `$0.0042`, `$12.50`: model prices are US dollars. Small sums have four digits, because one answer costs less than a cent. */
export function moneyText(dollars: number): string {
  return `$${dollars.toFixed(dollars > 0 && dollars < 1 ? 4 : 2)}`
}
