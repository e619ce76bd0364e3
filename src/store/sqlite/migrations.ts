import { sql, type Kysely, type Migration } from "kysely"
import type { Tables } from "./tables.ts"

/** One migration per version of the database. They run in the order of their names and are never changed afterwards. */
export const migrations: Record<string, Migration> = {
  "001_core": {
    async up(db: Kysely<unknown>) {
      // A record's place is chain * 2^32 + line, and is its key. Segments hold the lines as they were written. The two
      // tables after them are indexes.
      await db.schema
        .createTable("segments")
        .addColumn("place", "bigint", (column) => column.primaryKey())
        .addColumn("last_seq", "bigint", (column) => column.notNull())
        .addColumn("text", "text", (column) => column.notNull())
        .execute()
      await db.schema
        .createTable("ended")
        .addColumn("place", "bigint", (column) => column.primaryKey())
        .addColumn("call", "text", (column) => column.notNull())
        .addColumn("start_place", "bigint")
        .addColumn("at", "bigint", (column) => column.notNull())
        .addColumn("agent", "text", (column) => column.notNull())
        .addColumn("tool", "text", (column) => column.notNull())
        .addColumn("ending", "text", (column) => column.notNull())
        .addColumn("duration_ms", "bigint", (column) => column.notNull())
        .execute()
      await db.schema.createIndex("ended_call").on("ended").column("call").execute()
      await db.schema.createIndex("ended_at").on("ended").column("at").execute()
      await db.schema.createIndex("ended_agent").on("ended").columns(["agent", "tool", "at"]).execute()
      await db.schema
        .createTable("steps")
        .addColumn("place", "bigint", (column) => column.primaryKey())
        .addColumn("call", "text", (column) => column.notNull())
        .addColumn("kind", "text", (column) => column.notNull())
        .execute()
      await db.schema.createIndex("steps_call").on("steps").column("call").execute()

      await db.schema
        .createTable("chains")
        .addColumn("ordinal", "integer", (column) => column.primaryKey())
        .addColumn("uuid", "text", (column) => column.notNull().unique())
        .addColumn("owner", "text", (column) => column.notNull())
        .addColumn("link", "text", (column) => column.notNull())
        .addColumn("last_seq", "bigint", (column) => column.notNull())
        .addColumn("last_mac", "text", (column) => column.notNull())
        .addColumn("head", "text", (column) => column.notNull())
        .addColumn("file", "text")
        .addColumn("byte_offset", "bigint", (column) => column.notNull().defaultTo(0))
        .addColumn("closed", "integer", (column) => column.notNull().defaultTo(0))
        .execute()
      await db.schema
        .createTable("checkpoints")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("at", "bigint", (column) => column.notNull())
        .addColumn("positions", "text", (column) => column.notNull())
        .addColumn("mac", "text", (column) => column.notNull())
        .execute()

      await db.schema
        .createTable("calls")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("state", "text", (column) => column.notNull())
        .addColumn("owner", "text", (column) => column.notNull())
        .addColumn("epoch", "integer", (column) => column.notNull())
        .addColumn("agent_id", "text", (column) => column.notNull())
        .addColumn("session_id", "text", (column) => column.notNull())
        .addColumn("key", "text")
        .addColumn("tool", "text", (column) => column.notNull())
        .addColumn("definition_hash", "text", (column) => column.notNull())
        .addColumn("input", "text")
        .addColumn("input_digest", "text", (column) => column.notNull())
        .addColumn("request", "text", (column) => column.notNull())
        .addColumn("asks", "text", (column) => column.notNull())
        .addColumn("preview", "text")
        .addColumn("deadline", "bigint")
        .addColumn("answer", "text")
        .addColumn("result", "text")
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("updated_at", "bigint", (column) => column.notNull())
        .addColumn("change", "bigint", (column) => column.notNull())
        .execute()
      await sql`create unique index calls_key on calls (agent_id, session_id, key) where key is not null`.execute(db)
      await sql`create unique index calls_waiting on calls (agent_id, tool, input_digest)
                where key is null and state in ('waiting', 'ready')`.execute(db)
      await db.schema.createIndex("calls_state").on("calls").columns(["state", "updated_at"]).execute()
      await db.schema.createIndex("calls_change").on("calls").column("change").execute()

      await db.schema
        .createTable("session_environment")
        .addColumn("session_id", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("value", "text", (column) => column.notNull())
        .addColumn("updated_at", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("session_environment_key", ["session_id", "key"])
        .execute()

      await db.schema
        .createTable("artifacts")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("type", "text", (column) => column.notNull())
        .addColumn("mime_type", "text", (column) => column.notNull())
        .addColumn("is_binary", "integer", (column) => column.notNull())
        .addColumn("meta", "text")
        .addColumn("size", "bigint", (column) => column.notNull())
        .addColumn("agent_id", "text", (column) => column.notNull())
        .addColumn("task_id", "text")
        .addColumn("call_id", "text")
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .execute()
    },
  },

  "002_organisation": {
    async up(db: Kysely<unknown>) {
      // Organisation, rules, grants, freezes and modes: few, small and read whole, so one table of documents holds them.
      await db.schema
        .createTable("documents")
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("id", "text", (column) => column.notNull())
        .addColumn("name", "text")
        .addColumn("live", "integer", (column) => column.notNull())
        .addColumn("body", "text", (column) => column.notNull())
        .addColumn("changed_at", "bigint", (column) => column.notNull())
        .addColumn("changed_by", "text", (column) => column.notNull())
        .addColumn("change", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("documents_key", ["kind", "id"])
        .execute()
      await sql`create unique index documents_name on documents (kind, name) where live = 1 and name is not null`.execute(
        db,
      )
      await db.schema.createIndex("documents_change").on("documents").column("change").unique().execute()

      await db.schema
        .createTable("messages")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("sender", "text", (column) => column.notNull())
        .addColumn("recipient", "text", (column) => column.notNull())
        .addColumn("task_id", "text")
        .addColumn("payload", "text", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("deliver_at", "bigint", (column) => column.notNull())
        .addColumn("read_at", "bigint")
        .execute()
      await db.schema.createIndex("messages_inbox").on("messages").columns(["recipient", "deliver_at", "id"]).execute()
      await sql`create index messages_unread on messages (recipient, deliver_at, id) where read_at is null`.execute(db)

      // Start times of calls of rate-limited tools.
      await db.schema
        .createTable("starts")
        .addColumn("agent", "text", (column) => column.notNull())
        .addColumn("tool", "text", (column) => column.notNull())
        .addColumn("at", "bigint", (column) => column.notNull())
        .execute()
      await db.schema.createIndex("starts_window").on("starts").columns(["agent", "tool", "at"]).execute()

      await db.schema
        .createTable("processes")
        .addColumn("owner", "text", (column) => column.primaryKey())
        .addColumn("beat_at", "bigint", (column) => column.notNull())
        .execute()

      await db.schema
        .alterTable("calls")
        .addColumn("card", "text", (column) => column.notNull().defaultTo("{}"))
        .execute()
      await db.schema
        .alterTable("calls")
        .addColumn("revision", "integer", (column) => column.notNull().defaultTo(1))
        .execute()
      await db.schema
        .alterTable("calls")
        .addColumn("votes", "text", (column) => column.notNull().defaultTo("[]"))
        .execute()
      await db.schema
        .alterTable("calls")
        .addColumn("wanted", "integer", (column) => column.notNull().defaultTo(0))
        .execute()
      await db.schema
        .alterTable("calls")
        .addColumn("workspace", "text", (column) => column.notNull().defaultTo(""))
        .execute()

      await db.schema
        .alterTable("ended")
        .addColumn("role", "text", (column) => column.notNull().defaultTo(""))
        .execute()
      await fillFromEnds(db as Kysely<Tables>, "role", "role")
      // The last dropped line of each chain, signed with the checkpoint; empty when nothing was dropped.
      await db.schema
        .alterTable("checkpoints")
        .addColumn("cuts", "text", (column) => column.notNull().defaultTo(""))
        .execute()
    },
  },

  "003_notes": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("snippets")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("name", "text", (column) => column.notNull().unique())
        .addColumn("body", "text", (column) => column.notNull())
        .execute()
      // The task id is empty for an agent without a task.
      await db.schema
        .createTable("todos")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("agent_id", "text", (column) => column.notNull())
        .addColumn("task_id", "text", (column) => column.notNull())
        .addColumn("place", "integer", (column) => column.notNull())
        .addColumn("body", "text", (column) => column.notNull())
        .execute()
      await db.schema.createIndex("todos_list").on("todos").columns(["agent_id", "task_id", "place"]).execute()
    },
  },

  "004_tasks": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable("ended")
        .addColumn("task", "text", (column) => column.notNull().defaultTo(""))
        .execute()
      await fillFromEnds(db as Kysely<Tables>, "task", "taskId")
      await sql`create index ended_task on ended (task, at) where task <> ''`.execute(db)
    },
  },

  "005_conversations": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("conversations")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("agent_id", "text", (column) => column.notNull())
        .addColumn("state", "text", (column) => column.notNull())
        .addColumn("owner", "text", (column) => column.notNull())
        .addColumn("epoch", "integer", (column) => column.notNull())
        .addColumn("started_by", "text", (column) => column.notNull())
        .addColumn("settings", "text", (column) => column.notNull())
        .addColumn("spent", "text", (column) => column.notNull())
        .addColumn("length", "integer", (column) => column.notNull())
        .addColumn("created_at", "bigint", (column) => column.notNull())
        .addColumn("updated_at", "bigint", (column) => column.notNull())
        .execute()
      await db.schema.createIndex("conversations_newest").on("conversations").columns(["created_at", "id"]).execute()
      await db.schema.createIndex("conversations_state").on("conversations").columns(["state", "updated_at"]).execute()
      await db.schema
        .createTable("turns")
        .addColumn("conversation_id", "text", (column) => column.notNull())
        .addColumn("place", "integer", (column) => column.notNull())
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("body", "text", (column) => column.notNull())
        .addColumn("at", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("turns_place", ["conversation_id", "place"])
        .execute()
    },
  },

  "006_conversation_trees": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable("conversations")
        .addColumn("root", "text", (column) => column.notNull().defaultTo(""))
        .execute()
      await db.schema.createIndex("conversations_root").on("conversations").column("root").execute()
    },
  },

  "007_society": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable("messages")
        .addColumn("kind", "text", (column) => column.notNull().defaultTo("message"))
        .execute()
      await db.schema
        .alterTable("messages")
        .addColumn("hops", "integer", (column) => column.notNull().defaultTo(0))
        .execute()
      for (const column of ["about", "user_id", "conversation", "target"])
        await db.schema.alterTable("messages").addColumn(column, "text").execute()
      await sql`create unique index messages_answer on messages (about) where about is not null`.execute(db)
      await sql`create index messages_sent on messages (conversation, kind) where conversation is not null`.execute(db)
      await sql`create index messages_read on messages (target, read_at) where target is not null`.execute(db)
      await sql`create index messages_waiting on messages (target, deliver_at, id) where read_at is null`.execute(db)
    },
  },

  "008_previews_are_data": {
    async up(db: Kysely<unknown>) {
      await sql`update calls set preview = json_object('kind', 'text', 'text', preview) where preview is not null`.execute(
        db,
      )
    },
  },

  "009_trees_of_runs": {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable("messages").addColumn("root", "text").execute()
      await db.schema
        .createTable("tree_spent")
        .addColumn("root", "text", (column) => column.notNull())
        .addColumn("conversation_id", "text", (column) => column.notNull())
        .addColumn("spent", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("tree_spent_key", ["root", "conversation_id"])
        .execute()
      await db.schema.createIndex("tree_spent_conversation").on("tree_spent").column("conversation_id").execute()
      await sql`insert into tree_spent select case root when '' then id else root end, id, spent from conversations`.execute(
        db,
      )
    },
  },

  "010_agent_days": {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable("agent_days")
        .addColumn("agent_id", "text", (column) => column.notNull())
        .addColumn("day", "text", (column) => column.notNull())
        .addColumn("tokens", "integer", (column) => column.notNull())
        .addColumn("cost", "real", (column) => column.notNull())
        .addPrimaryKeyConstraint("agent_days_key", ["agent_id", "day"])
        .execute()
    },
  },

  "011_variables_of_agents": {
    async up(db: Kysely<unknown>) {
      // Nothing says which agent set the old ones, so they end.
      await db.schema.dropTable("session_environment").ifExists().execute()
      await db.schema
        .createTable("agent_environment")
        .addColumn("agent_id", "text", (column) => column.notNull())
        .addColumn("session_id", "text", (column) => column.notNull())
        .addColumn("key", "text", (column) => column.notNull())
        .addColumn("value", "text", (column) => column.notNull())
        .addColumn("updated_at", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("agent_environment_key", ["agent_id", "session_id", "key"])
        .execute()
    },
  },

  "012_listed_conversations": {
    async up(db: Kysely<unknown>) {
      for (const column of ["title", "preview", "ending", "searched"])
        await db.schema
          .alterTable("conversations")
          .addColumn(column, "text", (text) => text.notNull().defaultTo(""))
          .execute()
      for (const column of ["read", "change"])
        await db.schema
          .alterTable("conversations")
          .addColumn(column, "bigint", (number) => number.notNull().defaultTo(0))
          .execute()
      await db.schema.alterTable("conversations").addColumn("branch_of", "text").execute()
      await db.schema.alterTable("conversations").addColumn("branch_at", "integer").execute()
      const of = (field: string, kinds: string, order: string) => sql`coalesce((
        select replace(substr(json_extract(body, ${field}), 1, 100), char(10), ' ') from turns
        where conversation_id = conversations.id and kind in (${sql.raw(kinds)}) order by place ${sql.raw(order)} limit 1), '')`
      await sql`update conversations set title = ${of("$.text", "'user'", "asc")}, read = length,
        preview = ${of("$.text", "'user', 'assistant'", "desc")}, ending = ${of("$.status", "'end'", "desc")}`.execute(
        db,
      )
      await sql`update conversations set searched = lower(title || char(10) || preview || char(10) || agent_id)`.execute(
        db,
      )
      await db.schema.createIndex("conversations_used").on("conversations").columns(["updated_at", "id"]).execute()
      await db.schema.createIndex("conversations_change").on("conversations").column("change").execute()
      await sql`create index conversations_branch on conversations (branch_of) where branch_of is not null`.execute(db)
      await db.schema.dropIndex("conversations_newest").execute()
    },
  },

  "013_sums": {
    async up(db: Kysely<unknown>) {
      // Sums of the audit log by the hour. `migrate` fills them.
      await db.schema
        .createTable("hour_sums")
        .addColumn("agent", "text", (column) => column.notNull())
        .addColumn("tool", "text", (column) => column.notNull())
        .addColumn("hour", "integer", (column) => column.notNull())
        .addColumn("ending", "text", (column) => column.notNull())
        .addColumn("bucket", "bigint", (column) => column.notNull())
        .addColumn("count", "integer", (column) => column.notNull())
        .addColumn("ms", "bigint", (column) => column.notNull())
        .addPrimaryKeyConstraint("hour_sums_key", ["agent", "tool", "hour", "ending", "bucket"])
        .modifyEnd(sql`without rowid`)
        .execute()
      await db.schema
        .createTable("rule_hours")
        .addColumn("hour", "integer", (column) => column.notNull())
        .addColumn("rule", "text", (column) => column.notNull())
        .addColumn("count", "integer", (column) => column.notNull())
        .addPrimaryKeyConstraint("rule_hours_key", ["hour", "rule"])
        .modifyEnd(sql`without rowid`)
        .execute()
      await db.schema
        .createTable("waits")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("call", "text", (column) => column.notNull())
        .addColumn("agent", "text", (column) => column.notNull())
        .addColumn("tool", "text", (column) => column.notNull())
        .addColumn("asked_at", "bigint")
        .addColumn("answered_at", "bigint")
        .execute()
      await db.schema.createIndex("waits_call").on("waits").column("call").execute()
      await db.schema.createIndex("waits_answered").on("waits").column("answered_at").execute()
    },
  },
}

/** Fills a new column with a field of the existing end lines, one segment at a time. */
async function fillFromEnds(db: Kysely<Tables>, column: "role" | "task", field: "role" | "taskId"): Promise<void> {
  for (let place = -1; ;) {
    const query = db.selectFrom("segments").selectAll().where("place", ">", place).orderBy("place").limit(1)
    const segment = await query.executeTakeFirst()
    if (segment === undefined) return
    place = segment.place
    const chainStart = place - (place % 2 ** 32)
    for (const line of segment.text.split("\n")) {
      if (!line.includes('"kind":"end"') || !line.includes(`"${field}":`)) continue
      const entry = readEnd(line)
      const value = entry?.[field]
      if (entry === undefined || typeof value !== "string") continue
      await db
        .updateTable("ended")
        .set({ [column]: value.toWellFormed().replaceAll("\0", "\\0") })
        .where("place", "=", chainStart + entry.n)
        .execute()
    }
  }
}

function readEnd(line: string): { n: number; role?: unknown; taskId?: unknown } | undefined {
  try {
    const entry = JSON.parse(line) as { n: number; kind: string }
    return entry.kind === "end" ? entry : undefined
  } catch {
    return undefined
  }
}
