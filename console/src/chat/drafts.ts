/** The key of text that was typed and not sent, by conversation. It survives a reload, and an erased conversation. */
const storageKey = (id: string) => `qm-draft ${id}`

export const draftOf = (id: string): string => sessionStorage.getItem(storageKey(id)) ?? ""

export function keepDraft(id: string, text: string): void {
  if (text === "") sessionStorage.removeItem(storageKey(id))
  else sessionStorage.setItem(storageKey(id), text)
}
