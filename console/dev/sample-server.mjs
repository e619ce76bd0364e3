// A real server with the sample in a temporary folder, for pictures of the console.
import { execFileSync, spawn } from "node:child_process"
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const program = resolve("dist/qm.js")

export async function openSampleServer() {
  const root = mkdtempSync(join(tmpdir(), "quartermaster-pictures-"))
  for (const name of ["home", "work"]) mkdirSync(join(root, name))
  symlinkSync(resolve("node_modules"), join(root, "node_modules"))
  const cwd = join(root, "work")
  const options = { cwd, env: { PATH: process.env["PATH"], HOME: join(root, "home") } }
  const config = join(cwd, "quartermaster-sample", "quartermaster.yml")
  const qm = (...words) => execFileSync(process.execPath, [program, ...words], options).toString()
  let server
  let url = ""
  const start = async () => {
    const port = url === "" ? "0" : new URL(url).port
    server = spawn(process.execPath, [program, "serve", "--sample", "--port", port, "--json"], options)
    await new Promise((done) => server.stdout.once("data", done))
    url = new URL(signInLink()).origin
  }
  const stop = async () => {
    if (server.exitCode !== null) return
    server.kill()
    await new Promise((done) => server.once("close", done))
  }
  const signInLink = (person) => {
    const as = person === undefined ? [] : ["--as", person]
    return JSON.parse(qm("open", "--json", ...as)).url
  }
  await start()
  return {
    root,
    qm,
    signInLink,
    stop,
    get url() {
      return url
    },
    /** Starts it again, with more lines in its configuration. */
    async restart(lines = "") {
      await stop()
      appendFileSync(config, lines)
      qm("trust", "--yes", config)
      await start()
    },
    async remove() {
      await stop()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Signs a page in by a link, as a person does. */
export async function signIn(page, link) {
  await page.goto(link)
  await page.getByRole("button", { name: /Sign in|登录/ }).click()
  await page.waitForURL((address) => address.pathname !== "/signin")
}

/** Sends a request from a page that is signed in. */
export function request(page, method, path, body) {
  return page.evaluate(
    async ([verb, where, sent]) => {
      const secret = localStorage.getItem("qm-session") ?? ""
      const headers = { "content-type": "application/json", "x-quartermaster-session": secret }
      const answer = await fetch(where, {
        method: verb,
        headers,
        ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
      })
      const text = await answer.text()
      return text === "" ? undefined : JSON.parse(text)
    },
    [method, path, body],
  )
}

/** A call of an agent that does not wait for its end. */
export function call(page, agentId, tool, input, intent, more = {}) {
  const body = { agentId, input, intent, wait: 0, taskId: "release-0.9", ...more }
  return request(page, "POST", `/v1/tools/${tool}/call`, body)
}
