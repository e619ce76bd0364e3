import { z } from "zod"
import { DocumentRefused, type ChatDocument, type DocumentBinding } from "../../../agents/documents/chat-documents.ts"
import { ToolFailure } from "../../../core/ending.ts"
import type { Caller } from "./caller.ts"
import { maySee } from "./chain-json.ts"
import {
  documentConflict,
  documentFile,
  documentInList,
  documentPath,
  openDocumentBody,
  saveDocumentBody,
  sendDraftBody,
  type DocumentJson,
} from "./document-schemas.ts"
import { endpoint, Reply, type Api, type Endpoint } from "./endpoint.ts"
import { HttpProblem, notFound } from "./problem.ts"
import { refuseManagers } from "./tools.ts"

const tag = "Documents"

/** A document is seen by whoever opened it first, by those who see its conversation, and by people who may manage. */
async function seen(api: Api, caller: Caller, path: string): Promise<DocumentBinding> {
  requirePerson(caller)
  const { documents, conversations } = api.app
  const found = await refusals(() => Promise.resolve(documents.binding(path)))
  if (found === undefined) throw notFound("document", path)
  const conversation = found.conversationId === undefined ? undefined : await conversations.get(found.conversationId)
  const isTheirs = conversation === undefined ? found.by === caller.id : maySee(caller, conversation)
  if (!isTheirs && !caller.scopes.includes("manage")) throw notFound("document", path)
  return found
}

function requirePerson({ kind }: Caller): void {
  if (kind === "person") return
  throw new HttpProblem(403, "Only people do this. Use a person's token.", { code: "people_only" })
}

/** Turns a refusal by the files into a problem of the request. */
async function refusals<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DocumentRefused || error instanceof ToolFailure)
      throw new HttpProblem(422, error.message, { code: "document_refused" })
    throw error
  }
}

function json({
  path,
  conversationId,
  agentId,
  revision,
  markdown,
  sections,
  draft,
  sent,
  isOpen,
}: ChatDocument): DocumentJson {
  return {
    path,
    agentId,
    revision,
    markdown,
    draft,
    sent,
    isOpen,
    ...(conversationId !== undefined && { conversationId }),
    sections: sections.map(({ kind, key, heading, text }) => ({
      kind,
      text,
      ...(heading !== "" && { heading }),
      ...(/^\d+$/.test(key) && kind !== "draft" && { turn: Number(key) }),
      ...callOf(key),
    })),
  }
}

/** The call that a section is about: its turn and place, or its id. */
function callOf(key: string): { turn?: number; place?: number; callId?: string } {
  const [, turn, place] = /^(\d+)\.(\d+)$/.exec(key) ?? []
  if (turn !== undefined) return { turn: Number(turn), place: Number(place) }
  return key.startsWith("waits-") ? { callId: key.slice("waits-".length) } : {}
}

/** The document, or a conflict with both texts. */
function outcome(done: ChatDocument | { current: ChatDocument } | undefined, path: string, yours: string): unknown {
  if (done === undefined) throw notFound("document", path)
  return "current" in done ? new Reply({ current: json(done.current), yours }, 409) : json(done)
}

export const documentEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/documents",
    summary: "The documents that the caller may see, those that are open first.",
    tag,
    scope: "any",
    answers: { 200: z.object({ items: z.array(documentInList) }) },
    async handle({ api, caller }) {
      const all = api.app.documents.list().toSorted((one, other) => Number(other.isOpen) - Number(one.isOpen))
      const found = await Promise.all(all.map(({ path }) => seen(api, caller, path).catch(() => undefined)))
      return { items: found.filter((each) => each !== undefined) }
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/documents",
    summary:
      "Opens a Markdown file of the workspace as a document, or makes one. While it is open, tools do not write it.",
    tag,
    scope: "call",
    body: openDocumentBody,
    answers: { 200: documentFile },
    async handle({ api, caller, body: { path, agentId } }) {
      requirePerson(caller)
      const { app } = api
      const known = await refusals(() => Promise.resolve(app.documents.binding(path)))
      const found = known && (await seen(api, caller, path))
      const agent = agentId ?? found?.agentId
      if (agent === undefined) throw new HttpProblem(400, "Name the agent: agentId.", { code: "missing_agent" })
      if (app.org.view(agent) === undefined) throw notFound("agent", agent)
      refuseManagers(app, caller, agent)
      return json(await refusals(() => app.documents.open({ path, agentId: agent, by: caller.id })))
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/documents/file",
    summary: "A document as it is on the disk now. What was typed there in an editor is its draft.",
    tag,
    scope: "any",
    query: documentPath,
    answers: { 200: documentFile },
    async handle({ api, caller, query: { path } }) {
      await seen(api, caller, path)
      const found = await refusals(() => api.app.documents.read(path))
      if (found === undefined) throw notFound("document", path)
      return json(found)
    },
  }),
  endpoint({
    method: "put",
    path: "/v1/documents/file",
    summary: "Saves what a person typed. When somebody else was first: 409 with both texts, and nothing is written.",
    tag,
    scope: "call",
    body: saveDocumentBody,
    answers: { 200: documentFile, 409: documentConflict },
    async handle({ api, caller, body }) {
      await seen(api, caller, body.path)
      return outcome(await refusals(() => api.app.documents.save(body)), body.path, body.markdown)
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/documents/send",
    summary: "Says the draft in the conversation: exactly the one that the person was shown.",
    tag,
    scope: "call",
    body: sendDraftBody,
    answers: { 200: documentFile, 409: documentConflict },
    async handle({ api, caller, body }) {
      const { agentId } = await seen(api, caller, body.path)
      refuseManagers(api.app, caller, agentId)
      return outcome(
        await refusals(() => api.app.documents.send({ ...body, userId: caller.id })),
        body.path,
        body.draft,
      )
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/documents/close",
    summary: "Closes a document: tools may write its file again. Its conversation stays.",
    tag,
    scope: "call",
    body: documentPath,
    answers: { 204: undefined },
    async handle({ api, caller, body: { path } }) {
      await seen(api, caller, path)
      await refusals(() => api.app.documents.close(path, caller.id))
      return new Reply(undefined, 204)
    },
  }),
]
