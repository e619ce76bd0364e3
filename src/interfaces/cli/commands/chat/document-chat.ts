import type { ChatDocument } from "../../../../agents/documents/chat-documents.ts"
import type { ChainOptions } from "../../../../agents/chain/open-chains.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import { printable } from "../../../../lib/printable.ts"
import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import type { Key } from "../../../../lib/line-editor.ts"
import type { WaitingCards } from "./waiting-cards.ts"

interface DocumentChatParts {
  app: Quartermaster
  path: string
  agentId: string
  by: string
  options: ChainOptions
  paint: TerminalStyle
  cards: WaitingCards
  print(text: string): void
  readKeys(onKey: (key: Key) => void): () => void
}

/** Interval at which the file is looked at. */
const lookMs = 500

/**
 * A conversation that lives in a file: its person writes in an editor, and sends from here. Enter sends exactly the draft
 * that was shown; one that has changed meanwhile is shown first.
 */
export async function chatInDocument(parts: DocumentChatParts, signal: AbortSignal): Promise<ChatDocument> {
  const { app, path, by, agentId, cards, paint, print } = parts
  let document = await app.documents.open({ path, agentId, by })
  let shown = ""
  let stopKeys: () => void = () => {}
  let leave: () => void = () => {}
  let isAtWork = false
  let isAwaited = false
  const left = new Promise<void>((resolve) => (leave = resolve))
  const takeTerminal = () => (stopKeys = parts.readKeys(onKey))
  const giveTerminal = () => stopKeys()
  print(`${paint.bold(printable(document.path))} is open with ${printable(document.agentId)}.`)
  print(paint.dim("Write under 'Draft' in your editor and save. Enter here sends what was saved; Ctrl-C leaves."))
  takeTerminal()
  const looking = setInterval(() => void inTurn(look), lookMs)
  signal.addEventListener("abort", leave)
  try {
    await left
  } finally {
    clearInterval(looking)
    cards.close()
    giveTerminal()
    signal.removeEventListener("abort", leave)
    await app.documents.close(path, by)
  }
  return document

  function onKey({ name, ctrl }: Key): void {
    if (ctrl === true && (name === "c" || name === "d")) leave()
    else if (name === "return" || name === "enter") void inTurn(send)
  }

  /** One after the other. What fails is said, and the chat goes on. */
  async function inTurn(work: () => Promise<void>): Promise<void> {
    if (isAtWork) return
    isAtWork = true
    try {
      await work()
    } catch (error) {
      print(printable(errorMessage(error)))
    } finally {
      isAtWork = false
    }
  }

  async function look(): Promise<void> {
    document = (await app.documents.read(path)) ?? document
    if (document.draft !== shown) show()
    if (document.conversationId === undefined) return
    await cards.look(document.conversationId, {
      mayShow: () => !signal.aborted,
      before: giveTerminal,
      after: takeTerminal,
      interrupt: leave,
    })
    if (!isAwaited || (await app.conversations.get(document.conversationId))?.state !== "idle") return
    isAwaited = false
    document = (await app.documents.read(path)) ?? document
    print(paint.dim("The answer is in the file."))
  }

  function show(): void {
    shown = document.draft
    if (shown === "") return
    const lines = (text: string, sign: string) =>
      text === "" ? [] : text.split("\n").map((line) => `${sign} ${printable(line)}`)
    print(["", ...lines(document.sent, "-"), ...lines(shown, "+"), paint.dim("Enter sends it.")].join("\n"))
  }

  async function send(): Promise<void> {
    document = (await app.documents.read(path)) ?? document
    if (document.draft === "")
      return print(paint.dim("There is nothing to send. Write under 'Draft', save, then press Enter."))
    if (document.draft !== shown) return show()
    const { revision, draft } = document
    const sent = await app.documents.send({ path, revision, draft, userId: by, options: parts.options })
    if (sent === undefined || "current" in sent) return print("The file has changed at this moment. Press Enter again.")
    document = sent
    shown = ""
    isAwaited = true
    print(paint.dim("Sent. The answer comes into the file."))
  }
}
