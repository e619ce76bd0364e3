import type { ConversationChange, NewTurn } from "../../core/conversation.ts"
import { wholeCharacters } from "../../core/model-text.ts"
import { chainTurns, hintsBy, saidText } from "./turns.ts"

/** The most characters of a title and of a preview. */
const longest = { title: 80, preview: 160 }

/** Returns the entry for lists of a conversation after these turns. The title comes from the first message. */
export function outlineOf(
  turns: readonly NewTurn[],
  hasTitle: boolean,
): Pick<ConversationChange, "title" | "preview" | "ending"> {
  let title: string | undefined
  let preview: string | undefined
  let ending: string | undefined
  for (const turn of chainTurns(turns)) {
    if (turn.kind === "end") ending = turn.body.status
    if (turn.kind !== "assistant" && (turn.kind !== "user" || turn.body.by === hintsBy)) continue
    const text = onOneLine(turn.kind === "user" ? saidText(turn.body) : turn.body.text)
    if (text === "") continue
    preview = shortened(text, longest.preview)
    if (turn.kind === "user" && !hasTitle) title ??= shortened(text, longest.title)
  }
  return { ...(title && { title }), ...(preview && { preview }), ...(ending && { ending }) }
}

/** The beginning of a text on one line, as titles and previews have it. Long texts are not read to their end. */
export function onOneLine(text: string): string {
  return text.slice(0, 2000).replaceAll(/\s+/g, " ").trim()
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${wholeCharacters(text, most - 1).trimEnd()}…`
}
