import { z } from "zod"
import type { ChangedBy } from "../../../org/organisation-admin.ts"
import type { Caller } from "./caller.ts"
import { endpoint, type Api, type Asked, type Endpoint } from "./endpoint.ts"

/** A name or an id. */
export const text = z.string().min(1)
export const byId = z.object({ id: text })
export const entry = z.looseObject({ id: z.string() })
export const list = { 200: z.object({ items: z.array(entry) }) }

/** The person who changes something. */
export const actor = ({ id }: Caller): ChangedBy => ({ kind: "person", id })

type Id = z.output<typeof byId>

/** The usual endpoints of a collection: whoever may read lists it, whoever may manage changes it. */
export function resource(path: string, tag: string) {
  const manage = { tag, scope: "manage" } as const
  const one = { ...manage, path: `${path}/{id}`, params: byId }
  return {
    list: (summary: string, items: (api: Api) => readonly unknown[]): Endpoint =>
      endpoint({
        method: "get",
        path,
        summary,
        tag,
        scope: "read",
        answers: list,
        handle: ({ api }) => ({ items: items(api) }),
      }),

    create: <Body extends z.ZodType>(
      summary: string,
      body: Body,
      handle: (asked: Asked<undefined, undefined, z.output<Body>>) => unknown,
      answer: z.ZodType = entry,
    ): Endpoint =>
      endpoint({ ...manage, method: "post", path, summary, body, answers: { 201: answer }, handle: handle as never }),

    change: <Body extends z.ZodType>(
      summary: string,
      body: Body,
      handle: (asked: Asked<Id, undefined, z.output<Body>>) => unknown,
    ): Endpoint =>
      endpoint({ ...one, method: "patch", summary, body, answers: { 200: entry }, handle: handle as never }),

    remove: (
      summary: string,
      handle: (asked: Asked<Id, undefined, undefined>) => unknown,
      answers: Endpoint["answers"] = { 200: entry },
    ): Endpoint => endpoint({ ...one, method: "delete", summary, answers, handle }),
  }
}
