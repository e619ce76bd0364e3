import { once } from "node:events"
import { createServer, type AddressInfo } from "node:net"
import { expect, onTestFinished, test } from "vitest"
import { openTestApp } from "../../../../testing/test-app.ts"
import { runWithApp } from "../../testing.ts"

test.each(["-1", "65536", "http", "1.5"])("'--port %s' is refused with what it takes", async (port) => {
  const { code, stderr } = await runWithApp({}, ["serve", `--port=${port}`])
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining(`--port takes a number from 0 to 65535, and '${port}' is none.`),
  ])
})

test("a port that is in use is reported as a sentence", async () => {
  const other = createServer().listen(0, "127.0.0.1")
  onTestFinished(() => void other.close())
  await once(other, "listening")
  const { port } = other.address() as AddressInfo
  expect(await runWithApp(await openTestApp(), ["serve", "--port", String(port)])).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      new RegExp(
        `^Port ${port} of 127\\.0\\.0\\.1 cannot be listened on\\. .* npm start -- --port ${port + 1}, .*\\n$`,
      ),
    ),
  })
})

test("-C anywhere but before everything else is refused", async () => {
  expect(await runWithApp({}, ["tools", "-C", "there"])).toMatchObject({
    code: 2,
    stderr: "-C must come first: qm -C <folder> <command>.\n",
  })
})
