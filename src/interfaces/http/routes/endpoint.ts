import type { z } from "zod"
import type { Quartermaster } from "../../../app/quartermaster.ts"
import type { Scope } from "../../../core/organisation.ts"
import type { HttpReply } from "../../../lib/http-reply.ts"
import type { Caller } from "./caller.ts"

/** The app and the server, as endpoints use them. */
export interface Api {
  app: Quartermaster
  version: string
  workspace: string
  /** True while the organisation is the sample of the first start. */
  isSample(): boolean
  /** The address that people open: `server.publicUrl` where it is stated, else the server's own. */
  baseUrl(): string
  /** Proves that a request is of this machine's user: only they can read it in the data folder. */
  localKey?: string
  /** True if coding agents may ask their own person; see `hooks.askInClient`. */
  askInClient?: boolean
  now(): number
  /** Aborted when the server closes: streams end. */
  closing: AbortSignal
}

/** A request whose parts were validated by the endpoint's schemas. */
export interface Asked<Params, Query, Body> {
  api: Api
  caller: Caller
  /** The caller again, later. Throws when their token or session has ended. */
  callerNow(): Caller
  params: Params
  query: Query
  body: Body
  headers: { get(name: string): string | undefined }
  /** The body as it came, for endpoints without a schema for it. */
  bytes(): Promise<Uint8Array>
  signal: AbortSignal
}

/** An answer with another status than the endpoint's usual one, or with headers. */
export class Reply<T> {
  readonly value: T
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(value: T, status: number, headers: Readonly<Record<string, string>> = {}) {
    this.value = value
    this.status = status
    this.headers = headers
  }
}

/** An answer that is not JSON, with the headers it needs. */
export class RawReply {
  readonly body: HttpReply["body"]
  readonly headers: Readonly<Record<string, string>>

  constructor(body: HttpReply["body"], headers: Readonly<Record<string, string>>) {
    this.body = body
    this.headers = headers
  }
}

/** One endpoint: what it takes, who may use it, what it answers. The OpenAPI document is made of these. */
export interface Endpoint {
  method: "get" | "post" | "put" | "patch" | "delete"
  path: string
  summary: string
  /** More than the summary, for the OpenAPI document. */
  description?: string
  tag: string
  /**
   * The caller's scope. `any`: everybody who is signed in. `nobody`: no one has to be. `local`: programs of this machine's
   * user, which can read the key in the data folder.
   */
  scope: Scope | "any" | "nobody" | "local"
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** Headers that it reads, for the OpenAPI document. */
  headers?: z.ZodObject
  /** The media type of its answers; JSON when left out. */
  media?: string
  /** The statuses it answers with besides problems, each with its body. */
  answers: Readonly<Record<number, z.ZodType | undefined>>
  handle(asked: Asked<never, never, never>): unknown
}

type Read<T> = T extends z.ZodType ? z.output<T> : undefined

/** Types an endpoint by its schemas. */
export function endpoint<
  Params extends z.ZodObject | undefined = undefined,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  given: Omit<Endpoint, "params" | "query" | "body" | "handle"> & {
    params?: Params
    query?: Query
    body?: Body
    handle(asked: Asked<Read<Params>, Read<Query>, Read<Body>>): unknown
  },
): Endpoint {
  return given as unknown as Endpoint
}
