import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { buildSync } from "esbuild"
import { expect, test } from "vitest"
import type { FinishedCommand } from "../../model/processes.ts"
import { child } from "../../testing/children.ts"
import { findBubblewrap } from "../../testing/shell.ts"
import { openHere, realFolder } from "../processes/testing.ts"
import { openFence, openTrash } from "./fence.ts"
import { inventory } from "./testing.ts"

const ann = { agentId: "ann" }

/** A house with its data folder in the workspace, and something in the trash that eve deleted. */
async function scene() {
  const [workspace, outside] = [realFolder(), realFolder()]
  const dataFolder = join(workspace, ".quartermaster")
  mkdirSync(dataFolder)
  writeFileSync(join(dataFolder, "person.token"), "the-token")
  writeFileSync(join(outside, "victim"), "precious")
  const files = openFence({ workspace, dataFolder })
  const { processes } = openHere({ sandbox: "required", files, dataFolder, hidden: [dataFolder] })
  writeFileSync(join(workspace, "private"), "what eve deleted")
  await files.trash("private", "eve")
  return { workspace, outside, dataFolder, files, processes, trash: openTrash({ workspace, dataFolder }) }
}
type Scene = Awaited<ReturnType<typeof scene>> & { other?: Promise<FinishedCommand> | undefined }

/** Goes up from a folder that is gone as far as it gets, reads and makes what it can, again and again. */
const climb = (folder: string, { workspace, outside }: Scene) => `
until [ -d ${folder} ]; do sleep 0.02; done
exec 9< ${folder}; cd ${folder}; echo in
while [ -e ${workspace}/${folder} ]; do :; done
for round in $(seq 30); do
  for up in . .. ../.. ../../.. ../../../.. /proc/self/fd/9 /proc/self/fd/9/.. /proc/self/fd/9/../.. /proc/self/fd/9/../../..; do
    for file in $up/*.json $up/*/item $up/*.token $up/trash/*.json; do [ -f $file ] && cat $file; done
    ln -sf ${outside}/victim $up/tidied.json
    mkfifo $up/11111111-1111-4111-8111-111111111111.json
  done 2>/dev/null
  sleep 0.02
done
echo done`

test("bubblewrap works here, so that what follows says something", () => {
  expect(findBubblewrap()).toHaveProperty("path")
})

/** What puts the folder there, and what takes it away when a command stands in it. */
const endings: Record<string, { folder: string; make: (scene: Scene) => unknown; end: (scene: Scene) => Promise<unknown> }> = {
  "an agent deletes it": { folder: "dir", make: made, end: ({ files }) => files.trash("dir", "ann") },
  "an agent deletes the folder above": { folder: "dir/inner", make: made, end: ({ files }) => files.trash("dir", "ann") },
  "it is taken away from another command": {
    folder: "sub/.vscode/inner",
    make: (here) => (here.other = here.processes.run({ command: "mkdir -p sub/.vscode/inner; while ! [ -e go ]; do sleep 0.02; done" }, {})),
    async end({ workspace, other }) {
      writeFileSync(join(workspace, "go"), "")
      expect(await other).toMatchObject({ sealed: ["sub/.vscode"] })
    },
  },
} // prettier-ignore

function made({ workspace }: Scene): void {
  mkdirSync(join(workspace, "dir/inner"), { recursive: true })
  writeFileSync(join(workspace, "dir/inner/a"), "a")
}

test.each(Object.entries(endings))(
  "a command that stands in a folder when %s gets nothing of the trash and changes nothing in it",
  async (_, { folder, make, end }) => {
    const here: Scene = await scene()
    const { workspace, outside, dataFolder, processes, files, trash } = here
    make(here)
    const { id } = await processes.start({ command: climb(folder, here), agentId: "ann" }, ann)
    let text = ""
    const heard = async () => {
      const { stdout, stderr, status } = await processes.output(id, ann)
      text += stdout + stderr
      return status
    }
    while (!text.startsWith("in\n")) await heard().then(() => pause(20))
    await end(here)
    while ((await heard()) === "running") await pause(50)
    expect(text).toBe("in\ndone\n")
    writeFileSync(join(workspace, "b"), "b")
    await files.trash("b", "ann")
    expect(readFileSync(join(outside, "victim"), "utf8")).toBe("precious")
    const items = await trash.list()
    expect(items.map(({ path }) => path)).toEqual(["b", folder.replace(/\/inner$/, ""), "private"])
    const names = ["tidied.json", ...items.flatMap((item) => [item.id, `${item.id}.json`])]
    expect(readdirSync(join(dataFolder, "trash")).toSorted()).toEqual(names.toSorted())
  },
  60_000,
)

/** The fence as it is now, as one file that Node runs. */
function bundled(): string {
  const outfile = join(realFolder(), "parts.mjs")
  const contents = `export * from ${JSON.stringify(join(import.meta.dirname, "fence.ts"))}`
  const banner = { js: 'import { createRequire } from "node:module"; const require = createRequire("/")' }
  const stdin = { contents, resolveDir: import.meta.dirname }
  buildSync({ stdin, bundle: true, platform: "node", format: "esm", outfile, banner })
  return outfile
}

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

/** When it is killed, by what is in the trash and in the workspace. */
const moments: ((trash: string[], workspace: string[]) => boolean)[] = [
  (trash) => trash.length > 0,
  (trash) => trash.some((name) => name.endsWith(".json")),
  (_, workspace) => !workspace.includes("dir"),
]

test("a house that is killed while it deletes a folder loses nothing of it", async () => {
  const parts = bundled()
  const seen = { before: 0, between: 0, after: 0 }
  for (let round = 0; round < 12; round++) {
    const [workspace, dataFolder] = [realFolder(), realFolder()]
    for (let folder = 0; folder < 20; folder++) {
      mkdirSync(join(workspace, `dir/${folder}`), { recursive: true })
      for (let file = 0; file < 30; file++) writeFileSync(join(workspace, `dir/${folder}/${file}`), `${folder}/${file}`)
    }
    const before = inventory(workspace)
    const started = child(`
      import { openFence } from ${JSON.stringify(parts)}
      const files = openFence(${JSON.stringify({ workspace, dataFolder })})
      await files.trash("dir", "ann")
    `)
    const moment = moments[round % moments.length]!
    while (!moment(namesIn(join(dataFolder, "trash")), namesIn(workspace)) && started.process.exitCode === null) await pause(0) // prettier-ignore
    await pause(Math.floor(round / moments.length) * 2)
    started.process.kill("SIGKILL")
    await started.ended
    const left = Object.keys(inventory(workspace)).length
    const [item] = await openTrash({ workspace, dataFolder }).list()
    seen[item === undefined ? "before" : left > 0 ? "between" : "after"]++
    if (item === undefined) expect(inventory(workspace)).toEqual(before)
    else {
      for (const name of readdirSync(workspace)) rmSync(join(workspace, name), { recursive: true })
      await openTrash({ workspace, dataFolder }).restore(item.id)
      expect(inventory(workspace)).toEqual(before)
    }
  }
  console.log("Killed while it deleted:", JSON.stringify(seen))
}, 120_000)
