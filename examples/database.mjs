// A database for agents: reads run unasked, a change waits with the rows it is about.
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { callbackAdapter, createQuartermaster, modelText } from "quartermaster"

const dir = mkdtempSync(join(tmpdir(), "quartermaster-"))
const file = join(dir, "shop.db")
await createShop(file)

const previews = []
const quartermaster = await createQuartermaster(
  {
    data: { dir: join(dir, "data") },
    databases: { shop: { url: `sqlite:${file}`, description: "Orders" } },
  },
  {
    home: dir,
    approvals: callbackAdapter({
      onExecution: ({ request }) => {
        previews.push(request.preview)
        return { approved: request.preview.includes("matches 2 rows"), rejectReason: "Too many rows.", by: "ann" }
      },
    }),
  },
)
const call = (tool, input) => quartermaster.call({ agentId: "operator", tool, input: { database: "shop", ...input } })

const read = await call("query_database", { sql: "select id, total from orders where state = ?", parameters: ["open"] })
assert.deepEqual(read.result.rows, [
  [1, 12.5],
  [2, 99],
])
console.log(modelText(read))

// The database itself refuses to write in a query.
const written = await call("query_database", { sql: "with x as (select 1) delete from orders" })
assert.equal(written.metadata.toolCode, "read_only")
console.log(modelText(written))

const sent = await call("change_database", {
  sql: "update orders set state = ? where state = ?",
  parameters: ["sent", "open"],
})
assert.equal(sent.result.changedRows, 2)
console.log(previews[0])

// The person saw that it is about every row, and said no.
const refused = await call("change_database", { sql: "delete from orders" })
assert.equal(refused.status, "execution_rejected")
const left = await call("query_database", { sql: "select count(*) from orders" })
assert.deepEqual(left.result.rows, [[3]])

await quartermaster.close()
rmSync(dir, { recursive: true })

async function createShop(path) {
  // Node's own SQLite from version 24 on, else the packaged one, which Quartermaster brings.
  const major = Number(process.versions.node.split(".")[0])
  const { DatabaseSync } = await import(major >= 24 ? "node:sqlite" : "@photostructure/sqlite")
  const shop = new DatabaseSync(path)
  shop.exec(`create table orders (id integer primary key, state text, total numeric);
    insert into orders values (1, 'open', 12.5), (2, 'open', 99), (3, 'paid', 7)`)
  shop.close()
}
