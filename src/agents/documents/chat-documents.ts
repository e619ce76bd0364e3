import { setTimeout as sleep } from "node:timers/promises"
import { ToolFailure } from "../../core/ending.ts"
import type { Documents } from "../../core/documents.ts"
import { sha256 } from "../../lib/canonical-json.ts"
import type { PendingItem } from "../../core/approval.ts"
import { answersIn, callRows, type RowParts } from "../chain/call-rows.ts"
import type { ChainOptions, ConversationAdmin } from "../chain/open-chains.ts"
import type { ToolChain } from "../chain/tool-chain.ts"
import { chainTurns, withoutTakenBack } from "../context/turns.ts"
import { parseDocument, writeDocument, type FoundSection, type Section } from "./grammar.ts"
import { mergeDocument, withDraft, type MergedDocument } from "./merge.ts"
import { sectionsOf } from "./render.ts"

/** The stored binding of a document. The conversation that lives in a file is never read from the file. */
export interface DocumentBinding {
  path: string
  agentId: string
  conversationId?: string
  /** While it is open, tools do not write it. */
  isOpen: boolean
  by: string
}

/** A document as it is on the disk now. */
export interface ChatDocument extends DocumentBinding {
  markdown: string
  sections: readonly FoundSection[]
  draft: string
  sent: string
  revision: string
}

/** Somebody else wrote meanwhile. Nothing was written or sent. */
export interface DocumentConflict {
  current: ChatDocument
}

/** Files in which conversations live. */
export interface ChatDocuments {
  /** Opens a Markdown file, or makes one. Tools do not write it until it is closed. */
  open(given: { path: string; agentId: string; by: string }): Promise<ChatDocument>
  close(path: string, by: string): Promise<void>
  /** Undefined for a file that was never opened. */
  read(path: string): Promise<ChatDocument | undefined>
  binding(path: string): DocumentBinding | undefined
  list(): DocumentBinding[]
  /** Writes what a person typed. The conversation's own sections stay as they are. */
  save(given: {
    path: string
    revision: string
    markdown: string
  }): Promise<ChatDocument | DocumentConflict | undefined>
  /** Says the draft in the conversation, exactly the one that the person was shown. The only way in which a turn begins. */
  send(given: {
    path: string
    revision: string
    draft: string
    userId: string
    options?: ChainOptions
  }): Promise<ChatDocument | DocumentConflict | undefined>
}

/** The part of the files of the workspace that documents use. They refuse what no tool may use, but not open documents. */
export interface DocumentFiles {
  normalize(path: string): string
  readSmall(path: string, most: number): { bytes: Buffer; facts: { version: string } } | undefined
  write(path: string, bytes: Uint8Array, options: { expected: string | null; backups: number }): Promise<unknown>
}

export interface DocumentParts extends Omit<RowParts, "conversations"> {
  conversations: ConversationAdmin
  chain(agentId: string, options: ChainOptions): ToolChain
  documents: Pick<Documents, "all" | "get" | "put">
  approvals: { list(): Promise<readonly Pick<PendingItem, "callId" | "agentId" | "tool" | "sessionId">[]> }
  files(): DocumentFiles
  nameOf(person: string): string
  /** Calls the function when calls wait, or were answered. */
  onCalls(listener: () => void): void
  closing: AbortSignal
}

/** The paths of the documents that are open in any process. */
export function openDocumentPaths(documents: Pick<Documents, "all">): string[] {
  return bindingsIn(documents).flatMap(({ path, isOpen }) => (isOpen ? [path] : []))
}

function bindingsIn(documents: Pick<Documents, "all">): DocumentBinding[] {
  return [...documents.all("chat-document")].flatMap(({ live, body }) => (live ? [body as DocumentBinding] : []))
}

/** The largest document, in bytes. */
const mostBytes = 2_000_000

/** A document that is longer, or is no Markdown, is not opened. The sentence says what to do. */
export class DocumentRefused extends Error {}

export function openChatDocuments(parts: DocumentParts): ChatDocuments {
  const { conversations, documents, closing } = parts
  /** The conversations that are followed here, by the path of their document. */
  const followed = new Map<string, string>()
  /** One after the other for each file. */
  const queues = new Map<string, Promise<unknown>>()
  let isListening = false

  const idOf = (path: string) => sha256(path).slice(0, 32)
  const bindingOf = (path: string) => {
    const found = documents.get("chat-document", idOf(path))
    return found?.live === true ? (found.body as DocumentBinding) : undefined
  }
  const bind = (body: DocumentBinding, by: string) =>
    documents.put({ kind: "chat-document", id: idOf(body.path), name: body.path, body }, by)

  function inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
    const next = (queues.get(path) ?? Promise.resolve()).then(work, work)
    queues.set(
      path,
      next.catch(() => {}),
    )
    return next
  }

  async function conversationSections({ agentId, conversationId }: DocumentBinding): Promise<Section[]> {
    if (conversationId === undefined) return []
    const turns = withoutTakenBack(chainTurns(await conversations.turns(conversationId)))
    const of = { id: conversationId, agentId }
    const rows = await callRows(parts, of, answersIn(turns, new Set(turns)))
    const shown = new Set([...rows.values()].flat().map(({ callId }) => callId))
    const below = new Set((await conversations.agentEvents(conversationId)).events.map((event) => event.callId))
    const waiting = (await parts.approvals.list()).filter(
      ({ callId, sessionId }) => !shown.has(callId) && (sessionId === conversationId || below.has(callId)),
    )
    return sectionsOf(turns, { agentId, rows, waiting, nameOf: parts.nameOf })
  }

  /** Reads the file, changes what people wrote in it, and writes it if it is another one then. */
  async function update<T>(
    binding: DocumentBinding,
    change: (now: MergedDocument, sections: readonly Section[]) => { next: MergedDocument; result: T },
  ): Promise<{ document: ChatDocument; result: T }> {
    const files = parts.files()
    for (let tries = 0; ; tries++) {
      const found = readFile(files, binding.path)
      const sections = await conversationSections(binding)
      const { next, result } = change(mergeDocument(parseDocument(found?.text ?? ""), sections), sections)
      const markdown = writeDocument(next)
      const document = { ...binding, ...next, markdown }
      if (found?.text === markdown) return { document, result }
      try {
        await files.write(binding.path, Buffer.from(markdown), { expected: found?.version ?? null, backups: 3 })
        return { document, result }
      } catch (error) {
        // Somebody wrote it at this moment: what they wrote is read first.
        const isRace =
          error instanceof ToolFailure && (error.toolCode === "file_changed" || error.toolCode === "exists")
        if (!isRace || tries === 9) throw error
        await sleep(20)
      }
    }
  }

  function sync(path: string): Promise<ChatDocument | undefined> {
    return inTurn(path, async () => {
      const binding = bindingOf(path)
      if (binding === undefined) return undefined
      return (await update(binding, (next) => ({ next, result: undefined }))).document
    })
  }

  function syncLater(path: string): void {
    // A failure now is tried again with the next turn, and reported to whoever reads it.
    sync(path).catch(() => {})
  }

  /** Saves the document with each new turn, as long as it is open and this process lives. */
  function follow({ path, conversationId }: DocumentBinding): void {
    if (!isListening) {
      isListening = true
      parts.onCalls(() => {
        for (const each of followed.keys()) syncLater(each)
      })
    }
    if (conversationId === undefined || followed.get(path) === conversationId) return
    followed.set(path, conversationId)
    const isCurrent = () => bindingOf(path)?.isOpen === true && followed.get(path) === conversationId
    void (async () => {
      for await (const _turn of conversations.follow(conversationId, { signal: closing })) {
        if (!isCurrent()) break
        await sync(path).catch(() => {})
      }
    })()
      .catch(() => {})
      .finally(() => {
        if (followed.get(path) === conversationId) followed.delete(path)
      })
  }

  return {
    async open({ path: given, agentId, by }) {
      const path = parts.files().normalize(given)
      if (!/\.(md|markdown)$/i.test(path))
        throw new DocumentRefused(`${path} is not a Markdown file. Name one that ends in .md.`)
      readFile(parts.files(), path)
      const before = bindingOf(path)
      const isThere =
        before?.conversationId !== undefined && (await conversations.get(before.conversationId)) !== undefined
      const binding: DocumentBinding = isThere
        ? { ...before, isOpen: true }
        : { path, agentId, isOpen: true, by: before?.by ?? by }
      await bind(binding, by)
      follow(binding)
      return (await sync(path))!
    },
    async close(given, by) {
      const binding = bindingOf(parts.files().normalize(given))
      if (binding?.isOpen !== true) return
      await sync(binding.path)
      await bind({ ...binding, isOpen: false }, by)
      followed.delete(binding.path)
    },
    async read(given) {
      const path = parts.files().normalize(given)
      const binding = bindingOf(path)
      // This process may have begun after the document was opened.
      if (binding?.isOpen === true) follow(binding)
      return sync(path)
    },
    binding: (path) => bindingOf(parts.files().normalize(path)),
    list: () => bindingsIn(documents),
    save({ path: given, revision, markdown }) {
      const path = parts.files().normalize(given)
      return inTurn(path, async () => {
        const binding = bindingOf(path)
        if (binding === undefined) return undefined
        const { document, result } = await update(binding, (now, sections) =>
          now.revision === revision
            ? { next: mergeDocument(parseDocument(markdown), sections), result: true }
            : { next: now, result: false },
        )
        return result ? document : { current: document }
      })
    },
    send({ path: given, revision, draft, userId, options = {} }) {
      const path = parts.files().normalize(given)
      return inTurn(path, async () => {
        const binding = bindingOf(path)
        if (binding === undefined) return undefined
        const { document: current } = await update(binding, (next) => ({ next, result: undefined }))
        if (current.revision !== revision || current.draft !== draft || draft.trim() === "") return { current }
        const said = await say(binding, draft, userId, options)
        await bind(said, userId)
        follow(said)
        return (
          await update(said, (now, sections) => ({
            next: mergeDocument(withDraft(now, leftOf(now.draft, draft)), sections),
            result: undefined,
          }))
        ).document
      })
    },
  }

  async function say(
    binding: DocumentBinding,
    text: string,
    userId: string,
    options: ChainOptions,
  ): Promise<DocumentBinding> {
    const { agentId, conversationId } = binding
    if (conversationId !== undefined) {
      const told = await conversations.tell(conversationId, text, { by: userId, userId })
      if (told !== undefined) return binding
    }
    const chain = parts.chain(agentId, { ...options, durable: true, userId })
    const running = chain.run(text)
    running.catch(() => {})
    while ((await conversations.get(chain.id))?.length === undefined) await Promise.race([running, sleep(5)])
    return { ...binding, conversationId: chain.id }
  }
}

/** Returns the text that was typed while the draft was sent. */
function leftOf(now: string, sent: string): string {
  return now.startsWith(sent) ? now.slice(sent.length).trim() : now
}

function readFile(files: DocumentFiles, path: string): { text: string; version: string } | undefined {
  try {
    const found = files.readSmall(path, mostBytes)
    if (found === undefined)
      throw new DocumentRefused(`${path} is longer than ${mostBytes} bytes. Name a shorter file, or begin a new one.`)
    return { text: found.bytes.toString("utf8"), version: found.facts.version }
  } catch (error) {
    if (error instanceof ToolFailure && error.toolCode === "file_not_found") return undefined
    throw error
  }
}
