/** `1 step`, `2 steps` */
export function counted(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`
}
