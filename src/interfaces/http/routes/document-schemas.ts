import { z } from "zod"

const time = z.number().describe("Milliseconds since 1970, by the server's clock.")

/** A section of a document. Only what the server wrote itself counts: what was changed by hand is quoted text. */
export const documentSection = z
  .object({
    kind: z.enum(["person", "agent", "tool", "approval", "note"]),
    by: z.string().optional(),
    at: time.optional(),
    turn: z.number().optional().describe("The turn of the conversation that it shows."),
    callId: z
      .string()
      .optional()
      .describe("For `tool` and `approval`. The card of an approval: GET /v1/approvals/{callId}."),
    text: z.string(),
    edited: z.boolean().describe("Its text is not what the conversation has: it is only quoted."),
  })
  .meta({ id: "DocumentSection" })

export const documentFile = z
  .object({
    path: z.string().describe("Relative to the workspace."),
    conversationId: z.string().optional().describe("Left out until the first message is sent."),
    agentId: z.string(),
    revision: z.string().describe("The digest of the whole file. A save names the one that it read."),
    markdown: z.string(),
    sections: z.array(documentSection),
    draft: z.string().describe("What a person wrote and has not sent."),
    sent: z.string().describe("What the draft is compared with: what is in the conversation of it already."),
    updatedAt: time,
  })
  .meta({ id: "Document" })

/** Opens a file as a document, or makes one. */
export const openDocumentBody = z
  .object({ path: z.string().min(1).max(4096), agentId: z.string().min(1).optional() })
  .meta({ id: "OpenDocumentBody" })

/** Saves the whole text. With another revision than the current one: 409 with `current`, and nothing is written. */
export const saveDocumentBody = z
  .object({ path: z.string().min(1), revision: z.string(), markdown: z.string().max(2_000_000) })
  .meta({ id: "SaveDocumentBody" })

/** Sends the draft, exactly the one that the person was shown. */
export const sendDraftBody = z
  .object({ path: z.string().min(1), revision: z.string(), draft: z.string().min(1).max(1_000_000) })
  .meta({ id: "SendDraftBody" })

export const documentConflict = z
  .object({ current: documentFile, yours: z.string().describe("What was sent, unchanged.") })
  .meta({ id: "DocumentConflict" })

export const documentPath = z.object({ path: z.string().min(1).max(4096) })

export type DocumentSectionJson = z.infer<typeof documentSection>
export type DocumentJson = z.infer<typeof documentFile>
export type OpenDocumentBody = z.infer<typeof openDocumentBody>
export type SaveDocumentBody = z.infer<typeof saveDocumentBody>
export type SendDraftBody = z.infer<typeof sendDraftBody>
export type DocumentConflictJson = z.infer<typeof documentConflict>
