import { queryOptions } from "@tanstack/react-query"
import type {
  DocumentConflictJson,
  DocumentInListJson,
  DocumentJson,
} from "../../../src/interfaces/http/routes/document-schemas.ts"
import { get, post, problemOf, put } from "../api/http.ts"

export const documentsQuery = queryOptions({
  queryKey: ["chats", "documents"],
  queryFn: async () => (await get<{ items: DocumentInListJson[] }>("/v1/documents")).items,
})

/** Read again while it is shown: other editors change the file without an event. */
export const documentQuery = (path: string) =>
  queryOptions({
    queryKey: ["chat", "document", path],
    queryFn: () => get<DocumentJson>(`/v1/documents/file?path=${encodeURIComponent(path)}`),
    refetchInterval: 2000,
    retry: false,
  })

export const open = (path: string, agentId: string | undefined) =>
  post<DocumentJson>("/v1/documents", { path, ...(agentId === undefined ? {} : { agentId }) })
export const close = (path: string) => post("/v1/documents/close", { path })

/** The saved or sent document; or, when somebody else was first, both texts. */
export type Saved = { readonly saved: DocumentJson } | { readonly conflict: DocumentConflictJson }

export const save = (path: string, revision: string, markdown: string) =>
  orConflict(put<DocumentJson>("/v1/documents/file", { path, revision, markdown }))
export const send = (path: string, revision: string, draft: string) =>
  orConflict(post<DocumentJson>("/v1/documents/send", { path, revision, draft }))

async function orConflict(work: Promise<DocumentJson>): Promise<Saved> {
  try {
    return { saved: await work }
  } catch (error) {
    const problem = problemOf(error) as unknown as Partial<DocumentConflictJson>
    if (problem.current === undefined || problem.yours === undefined) throw error
    return { conflict: { current: problem.current, yours: problem.yours } }
  }
}
