/**
 * One process of the harness: prepares its rows, then runs a row whenever the parent asks, until told to close.
 * Started by run.mjs as `child.mjs <file> <folder> <row>...`.
 */
import { pathToFileURL } from "node:url"

const [file, folder, ...names] = process.argv.slice(2)
const { rows: all } = await import(pathToFileURL(file).href)
const rows = new Map(all.filter(({ row }) => names.includes(row)).map((row) => [row.row, row]))

const work = {
  /** The first run of each row warms up and is not counted. */
  async prepare() {
    for (const row of rows.values()) {
      await row.prepare?.({ folder })
      await row.run()
    }
  },
  async run(name) {
    const figure = await rows.get(name).run()
    if (!Number.isFinite(figure)) throw new Error(`run() of "${name}" returned ${figure}, not a number.`)
    return figure
  },
  async close() {
    for (const row of rows.values()) await row.close?.()
  },
}

process.on("disconnect", () => process.exit())
process.on("message", ({ task, row }) => {
  work[task](row).then(
    (figure) => process.send({ figure }),
    (error) => process.send({ error: error?.stack ?? String(error) }),
  )
})
process.send({ figure: 0 })
