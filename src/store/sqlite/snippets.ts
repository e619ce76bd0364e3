import { newId } from "../../lib/new-id.ts"
import {
  matchesSnippetFilter,
  type Snippet,
  type SnippetDraft,
  type SnippetFilter,
  type SnippetStorage,
} from "../snippet-store.ts"
import { transaction, retryWhileBusy, type Database } from "./database.ts"

type Row = { id: string; name: string; body: string }

/** The snippets table of the embedded store. Several processes share it. */
export function storedSnippets(database: Database): SnippetStorage {
  const find = (nameOrId: string): Snippet | undefined => {
    const row = database
      .prepare("select * from snippets where name = ? or id = ? order by name <> ? limit 1")
      .get(nameOrId, nameOrId, nameOrId)
    return row === undefined ? undefined : read(row as unknown as Row)
  }
  const put = (draft: SnippetDraft, agentId: string): { snippet: Snippet; created: boolean } => {
    const row = database.prepare("select * from snippets where name = ?").get(draft.name)
    const known = row === undefined ? undefined : read(row as unknown as Row)
    const now = Date.now()
    const snippet: Snippet = {
      id: known?.id ?? newId(),
      name: draft.name,
      code: draft.code,
      description: draft.description ?? known?.description ?? "",
      language: draft.language ?? known?.language ?? "plaintext",
      tags: [...new Set(draft.tags ?? known?.tags ?? [])],
      createdAt: known?.createdAt ?? now,
      updatedAt: now,
      createdBy: known?.createdBy ?? agentId,
      updatedBy: agentId,
    }
    const { id, name, ...body } = snippet
    database
      .prepare(
        "insert into snippets (id, name, body) values (?, ?, ?) on conflict (id) do update set body = excluded.body",
      )
      .run(id, name, JSON.stringify(body))
    return { snippet, created: known === undefined }
  }
  return {
    save: (draft, agentId) => retryWhileBusy(() => transaction(database, () => put(draft, agentId))),
    load: (nameOrId) => retryWhileBusy(() => find(nameOrId)),
    list: (filter: SnippetFilter = {}) =>
      retryWhileBusy(() =>
        (database.prepare("select * from snippets order by name").all() as unknown as Row[])
          .map(read)
          .filter((snippet) => matchesSnippetFilter(snippet, filter)),
      ),
    delete: (nameOrId) =>
      retryWhileBusy(() =>
        transaction(database, () => {
          const found = find(nameOrId)
          if (found !== undefined) database.prepare("delete from snippets where id = ?").run(found.id)
          return found
        }),
      ),
  }
}

function read({ id, name, body }: Row): Snippet {
  return { id, name, ...(JSON.parse(body) as Omit<Snippet, "id" | "name">) }
}
