import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { makeCli } from "../../testing.ts"

const enter = "\r"
const controlC = "\u0003"
const menu = "escape later\r\n> "

test("a conversation lives in a file: what was saved is shown, Enter sends it, cards are answered here, the answer comes into the file", async () => {
  const cli = makeCli({ NO_COLOR: "1" })
  cli.write("quartermaster.yml", "models:\n  main: { provider: scripted, script: demo.yml }\n")
  cli.write("demo.yml", "- call: { write_file: { path: todo.md, content: Finish. } }\n- say: Written.\n")
  await cli.run("trust", "--yes")
  const file = join(cli.cwd, "notes.md")
  const onDisk = () => readFileSync(file, "utf8")
  const type = (text: string) => writeFileSync(file, onDisk().replace("## Draft\n", `## Draft\n\n${text}\n`))
  const { code, stdout } = await cli.inTerminal(
    ["chat", "--data", cli.dataDir, "--document", "notes.md"],
    [
      ["Ctrl-C leaves.", enter],
      ["There is nothing to send.", () => type("Write it.")],
      ["Enter sends it.", enter],
      [menu, `a${enter}`],
      ["The answer is in the file.", controlC],
    ],
  )
  expect([code, stdout]).toEqual([0, expect.stringContaining("+ Write it.")])
  expect(onDisk()).toContain("> Written.")
  expect(readFileSync(join(cli.cwd, "todo.md"), "utf8")).toBe("Finish.")
})
