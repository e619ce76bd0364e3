import { z } from "zod"

/*
 * GET  /v1/documents                 { items: documentInList[] }
 * POST /v1/documents                 openDocumentBody → documentFile; 422 `document_refused`
 * GET  /v1/documents/file?path       documentFile, read from the disk now
 * PUT  /v1/documents/file            saveDocumentBody → documentFile; 409 documentConflict
 * POST /v1/documents/send            sendDraftBody → documentFile; 409 documentConflict when the draft is another one by now
 * POST /v1/documents/close           documentPath → 204
 *
 * The events of its conversation on /v1/events (turn, call) tell when to read it again.
 */

/** A section of a document. */
export const documentSection = z
  .object({
    kind: z
      .enum(["person", "agent", "tool", "approval", "note", "quoted", "draft"])
      .describe("`quoted`: what somebody changed by hand, which counts for nothing. `draft`: what is not sent yet."),
    heading: z.string().optional().describe("Who speaks."),
    turn: z.number().optional().describe("The turn of the conversation that it shows."),
    place: z.number().optional().describe("For `tool` and `approval`: the place of the call in its answer."),
    callId: z.string().optional().describe("For an `approval` that is no call of this conversation's turns."),
    text: z.string(),
  })
  .meta({ id: "DocumentSection" })

export const documentInList = z
  .object({
    path: z.string().describe("Relative to the workspace."),
    agentId: z.string(),
    conversationId: z.string().optional().describe("Left out until the first draft is sent."),
    isOpen: z.boolean().describe("While it is, tools do not write the file."),
    by: z.string(),
  })
  .meta({ id: "DocumentInList" })

export const documentFile = documentInList
  .omit({ by: true })
  .extend({
    revision: z
      .string()
      .describe(
        "Changes with what people write, not with what the conversation adds. A save names the one that it read.",
      ),
    markdown: z.string(),
    sections: z.array(documentSection),
    draft: z.string().describe("What a person wrote and has not sent."),
    sent: z
      .string()
      .describe("Show the draft with its difference against this: the message that it changes, or nothing."),
  })
  .meta({ id: "Document" })

/** Opens a file as a document, or makes one. The agent is needed for a new one. */
export const openDocumentBody = z
  .object({ path: z.string().min(1).max(4096), agentId: z.string().min(1).optional() })
  .meta({ id: "OpenDocumentBody" })

export const saveDocumentBody = z
  .object({ path: z.string().min(1).max(4096), revision: z.string(), markdown: z.string().max(1_900_000) })
  .meta({ id: "SaveDocumentBody" })

export const sendDraftBody = z
  .object({ path: z.string().min(1).max(4096), revision: z.string(), draft: z.string().min(1).max(1_000_000) })
  .meta({ id: "SendDraftBody" })

export const documentConflict = z
  .object({ current: documentFile, yours: z.string().describe("What was sent, unchanged.") })
  .meta({ id: "DocumentConflict" })

export const documentPath = z.object({ path: z.string().min(1).max(4096) })

export type DocumentSectionJson = z.infer<typeof documentSection>
export type DocumentInListJson = z.infer<typeof documentInList>
export type DocumentJson = z.infer<typeof documentFile>
export type DocumentConflictJson = z.infer<typeof documentConflict>
