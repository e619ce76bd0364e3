import { counted } from "../lib/counted.ts"

const ending = "'qm undo' puts them back."

/** The note in the audit log about what a call changed. */
export function undoNote(paths: readonly string[]): string {
  const shown = paths.slice(0, 5).join(", ")
  return `Changed ${counted(paths.length, "file")}: ${shown}${paths.length > 5 ? ", …" : ""}. ${ending}`
}

/** Reports whether a note says that the call can be undone. */
export function isUndoNote(text: string | undefined): boolean {
  return text?.endsWith(ending) === true
}
