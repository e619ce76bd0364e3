import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import type {
  AttachedJson,
  BranchedJson,
  ChainBody,
  ChainChange,
  ChainSideJson,
  ChainViewJson,
  ConversationJson,
  SaidJson,
  ShownTurnJson,
  UnfinishedJson,
} from "../../../src/interfaces/http/routes/chain-schemas.ts"
import { file, get, patch, post, remove, upload } from "../api/http.ts"

/** A picture that goes to the model with a message. */
export interface Picture {
  readonly mimeType: "image/png" | "image/jpeg" | "image/gif" | "image/webp"
  readonly data: string
}

const chain = (id: string) => `/v1/chains/${encodeURIComponent(id)}`
const textOf = (query: Record<string, string | undefined>) =>
  new URLSearchParams(
    Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined),
  ).toString()

/** The conversations that were used last, a page after the other. */
export const chatsQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: ["chats", search],
    queryFn: ({ pageParam }) =>
      get<{ items: ConversationJson[]; cursor?: string }>(
        `/v1/chains?${textOf({ search: search === "" ? undefined : search, cursor: pageParam, limit: "50" })}`,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor,
    placeholderData: (before) => before,
  })

/** The number of turns that are read at once. */
const turnsAtOnce = 60

export const viewQuery = (id: string) =>
  queryOptions({
    queryKey: ["chat", "view", id],
    queryFn: () => get<ChainViewJson>(`${chain(id)}/view?limit=${turnsAtOnce}`),
  })

export const sideQuery = (id: string) =>
  queryOptions({ queryKey: ["chat", "side", id], queryFn: () => get<ChainSideJson>(`${chain(id)}/side`) })

export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: async () => (await get<{ items: { name: string; seesImages?: boolean }[] }>("/v1/models")).items,
})

export const turnsBefore = (id: string, before: string) =>
  get<ChainViewJson>(`${chain(id)}/view?${textOf({ limit: String(turnsAtOnce), before })}`)
export const wholeTurn = (id: string, index: number) => get<ShownTurnJson>(`${chain(id)}/turns/${index}`)
export const unfinishedNow = async (id: string) =>
  (await get<{ unfinished?: UnfinishedJson }>(`${chain(id)}/unfinished`)).unfinished

export const begin = (body: ChainBody) => post<ConversationJson>("/v1/chains", body)
export const change = (id: string, body: ChainChange) => patch<ConversationJson>(chain(id), body)
export const erase = (id: string) => remove(chain(id))
export const say = (id: string, message: string, images: readonly Picture[]) =>
  post<SaidJson>(`${chain(id)}/messages`, { message, ...(images.length === 0 ? {} : { images }) })
export const takeBack = (id: string, index: number) => remove(`${chain(id)}/messages/${index}`)
export const resume = (id: string) => post(`${chain(id)}/resume`)
export const stop = (id: string) => post(`${chain(id)}/stop`)
export const branch = (id: string, message: string, index: number) =>
  post<BranchedJson>(`${chain(id)}/branch`, { message, index })
export const attach = (id: string, path: string, content: Blob, overwrite: boolean) =>
  upload<AttachedJson>(`${chain(id)}/files?${textOf({ path, overwrite: overwrite ? "true" : undefined })}`, content)
export const setMode = (agentId: string, sessionId: string, mode: "plan" | "ask" | "edits") =>
  post(`/v1/agents/${encodeURIComponent(agentId)}/mode`, { mode, sessionId })

/** The address of an image of a turn, for this page only: the server sends it as a file to save. */
export const imageQuery = (href: string, mimeType: string) =>
  queryOptions({
    queryKey: ["image", href],
    queryFn: async ({ signal }) => URL.createObjectURL(new Blob([await file(href, signal)], { type: mimeType })),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
