/** Inputs that were typed, by tool, while this page is open; and those that were used, for the next time too. */
const drafts = new Map<string, unknown>()

export const draftOf = (tool: string): unknown => drafts.get(tool)
export const keepDraft = (tool: string, input: unknown) => drafts.set(tool, input)

const mostRecent = 8
const keyOf = (tool: string) => `qm-inputs-${tool}`

/** The last inputs of a tool in this tab, newest first. They may hold secrets, so they end with the tab. */
export function recentInputs(tool: string): readonly unknown[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(keyOf(tool)) ?? "[]")
    return Array.isArray(stored) ? stored : []
  } catch {
    return []
  }
}

export function rememberInput(tool: string, input: unknown): void {
  const text = JSON.stringify(input)
  if (text === undefined || text === "{}" || text.length > 20_000) return
  const others = recentInputs(tool).filter((one) => JSON.stringify(one) !== text)
  sessionStorage.setItem(keyOf(tool), JSON.stringify([input, ...others].slice(0, mostRecent)))
}
