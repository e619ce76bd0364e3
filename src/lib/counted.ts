/** `1 step`, `2 steps`; `1 person`, `2 people` with the word for several. */
export function counted(number: number, word: string, words = `${word}s`): string {
  return `${number} ${number === 1 ? word : words}`
}
