const agreed = "agreed to revision"

/** The log's text of a yes while more people must agree. */
export function voteText(revision: number, note: string | undefined): string {
  return `${agreed} ${revision}${note === undefined ? "" : `, and says: ${note}`}`
}

/** Reports whether an entry is a yes that did not settle the call yet. */
export function isVote({ kind, text }: { kind: string; text?: unknown }): boolean {
  return kind === "answered" && typeof text === "string" && text.startsWith(agreed)
}
