import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { expect, test } from "vitest"
import { findBubblewrap } from "../../testing/shell-app.ts"
import { openFiles, openTrash } from "../files/files.ts"
import { openTestProcesses, realTemporaryFolder } from "./testing.ts"

const ann = { agentId: "ann" }

/** Files with the data folder in the workspace, and an item in the trash that eve deleted. */
async function scene() {
  const [workspace, outside] = [realTemporaryFolder(), realTemporaryFolder()]
  const dataFolder = join(workspace, ".quartermaster")
  mkdirSync(dataFolder)
  writeFileSync(join(dataFolder, "person.token"), "the-token")
  writeFileSync(join(outside, "victim"), "precious")
  const files = openFiles({ workspace, dataFolder })
  const { processes } = openTestProcesses({
    sandbox: "required",
    files,
    hidden: [dataFolder],
    trashFolder: join(dataFolder, "trash"),
  })
  writeFileSync(join(workspace, "private"), "what eve deleted")
  await files.trash("private", "eve")
  return { workspace, outside, dataFolder, files, processes, trash: openTrash({ workspace, dataFolder }) }
}
type Scene = Awaited<ReturnType<typeof scene>>

/** Goes up from a deleted folder as far as it can, and reads and writes there again and again. */
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

test("bubblewrap works here, so that the following tests mean something", () => {
  expect(findBubblewrap()).toHaveProperty("path")
})

/** Ways of deleting the folder while a command runs in it. */
const deletions: Record<string, { folder: string; deleteIt: (scene: Scene) => Promise<unknown> }> = {
  "an agent deletes it": { folder: "dir", deleteIt: ({ files }) => files.trash("dir", "ann") },
  "an agent deletes the folder above": { folder: "dir/inner", deleteIt: ({ files }) => files.trash("dir", "ann") },
} // prettier-ignore

function createFolder({ workspace }: Scene): void {
  mkdirSync(join(workspace, "dir/inner"), { recursive: true })
  writeFileSync(join(workspace, "dir/inner/a"), "a")
}

test.each(Object.entries(deletions))(
  "a command in a folder while %s reads and changes nothing else in the trash",
  async (_, { folder, deleteIt }) => {
    const opened: Scene = await scene()
    const { workspace, outside, dataFolder, processes, files, trash } = opened
    createFolder(opened)
    const { id } = await processes.start({ command: climb(folder, opened) }, ann)
    let text = ""
    const readOutput = async () => {
      const { stdout, stderr, status } = await processes.output(id, ann)
      text += stdout + stderr
      return status
    }
    while (!text.startsWith("in\n")) await readOutput().then(() => pause(20))
    await deleteIt(opened)
    while ((await readOutput()) === "running") await pause(50)
    expect(text).toBe("in\ndone\n")
    writeFileSync(join(workspace, "b"), "b")
    await files.trash("b", "ann")
    expect(readFileSync(join(outside, "victim"), "utf8")).toBe("precious")
    const items = await trash.list()
    expect(items.map(({ path }) => path)).toEqual(["b", folder.replace(/\/inner$/, ""), "private"])
    const names = items.flatMap((item) => [item.id, `${item.id}.json`])
    expect(readdirSync(join(dataFolder, "trash")).toSorted()).toEqual(names.toSorted())
  },
  60_000,
)
