import { counted } from "../lib/counted.ts"

const command = "This can be undone for a week: qm undo "

/** The note in the audit log about what a call changed. */
export function undoNote(callId: string, paths: readonly string[]): string {
  const shown = paths.slice(0, 5).join(", ")
  return `Changed ${counted(paths.length, "file")}: ${shown}${paths.length > 5 ? ", …" : ""}. ${command}${callId}`
}

/** Reports whether a note says that the call can be undone. */
export function isUndoNote(text: string | undefined): boolean {
  return text?.includes(command) === true
}
