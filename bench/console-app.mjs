/**
 * A served console with a conversation of 2,000 turns among 10,000, and a model that writes slowly. Sends its address and the
 * conversation's id to the parent; tells on request how long its event loop was blocked at most.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { DatabaseSync } from "@photostructure/sqlite"
import { createQuartermaster } from "../build/index.js"
import { serveHttp } from "../build/interfaces/http/serve.js"

const [folder, turns, conversations] = process.argv.slice(2)
const dir = join(folder, "data")

/** Calls a tool and says something; asked to stream, it writes 400 pieces. */
const model = {
  name: "played",
  provider: "played",
  modelId: "played",
  async *stream({ messages }) {
    const last = messages.at(-1)
    if (last.role !== "tool" && !last.content.includes("stream")) {
      yield { type: "text", block: "1", text: "I look at the **workspace** first.\n\n- one\n- two\n" }
      yield { type: "tool-call", id: "a", name: "list_files", input: '{"path":"."}' }
      yield { type: "finish", reason: "tool-calls" }
      return
    }
    for (let piece = 0; piece < (last.role === "tool" ? 20 : 400); piece++) {
      if (last.role !== "tool") await sleep(10)
      yield { type: "text", block: "1", text: `Word ${piece} of the answer.${piece % 20 === 19 ? "\n\n" : " "}` }
    }
    yield { type: "finish", reason: "stop" }
  },
}
const config = {
  data: { dir },
  org: { roles: [{ name: "worker", toolGroups: ["workspace"] }], agents: [{ id: "dev", role: "worker" }] },
}
const open = () => createQuartermaster(config, { models: { played: model }, workspace: folder, onWaiting: () => {} })

const first = await open()
const chain = first.chain("dev", { durable: true, userId: "me" })
await chain.run("What is here?")
await first.close()
fill(chain.id)

const app = await open()
const served = await serveHttp(app, { port: 0, version: "0", workspace: folder })
const { link } = await app.signIn.createLink({ person: "me", isMachineUser: true })
/** The longest time between two looks, and the most processor time in one of them: without what others had the core for. */
let longest = { ms: 0, cpuMs: 0 }
let looking
function watch() {
  longest = { ms: 0, cpuMs: 0 }
  let [at, cpu] = [performance.now(), process.cpuUsage()]
  looking = setInterval(() => {
    const { user, system } = process.cpuUsage(cpu)
    const ms = performance.now() - at - 5
    longest = { ms: Math.max(longest.ms, ms), cpuMs: Math.max(longest.cpuMs, Math.min(ms, (user + system) / 1000)) }
    at = performance.now()
    cpu = process.cpuUsage()
  }, 5)
}
process.on("disconnect", () => process.exit())
process.on("message", (what) => {
  if (what === "watch") {
    watch()
    process.send({ watching: true })
    return
  }
  clearInterval(looking)
  process.send(longest)
})
process.send({ url: served.url, link, id: chain.id })

/** Repeats the turns of the run until there are as many as wanted, and the conversation beside others. */
function fill(id) {
  const name = readdirSync(dir).find((each) => each.endsWith(".db"))
  const database = new DatabaseSync(join(dir, name))
  const known = database.prepare("select * from turns where conversation_id = ? order by place").all(id)
  const add = database.prepare("insert into turns (conversation_id, place, kind, body, at) values (?, ?, ?, ?, ?)")
  database.exec("begin")
  for (let place = known.length; place < turns; place++) {
    const { kind, body, at } = known[place % known.length]
    const value = JSON.parse(body)
    if (value.read !== undefined) value.read = place
    add.run(id, place, kind, JSON.stringify(value), at + place)
  }
  const length = turns - (turns % known.length)
  database.prepare("delete from turns where conversation_id = ? and place >= ?").run(id, length)
  database.prepare("update conversations set length = ?, title = 'The long one' where id = ?").run(length, id)
  const columns = Object.keys(database.prepare("select * from conversations where id = ?").get(id))
  const changed = {
    id: "'other-' || value",
    length: "0",
    title: "'Conversation ' || value",
    searched: "'conversation ' || value",
    updated_at: "updated_at - value * 60000",
  }
  const values = columns.map((column) => changed[column] ?? column).join(", ")
  const numbers = "with recursive n(value) as (select 1 union all select value + 1 from n where value < ?)"
  database
    .prepare(`${numbers} insert into conversations (${columns.join(", ")}) select ${values} from conversations, n where id = ?`)
    .run(conversations - 1, id) // prettier-ignore
  database.exec("commit")
  database.close()
}
