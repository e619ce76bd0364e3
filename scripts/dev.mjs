// Rebuilds dist when a source changes.
import { spawn } from "node:child_process"
import { watch } from "node:fs"

let timer
let running = false
let again = false

console.log("Watching src. Press Ctrl-C to stop.")
build("start")
for (const folder of ["src", "scripts"]) {
  watch(folder, { recursive: true }, (_, name) => {
    // Editors write a file in several steps; wait until they are done.
    clearTimeout(timer)
    timer = setTimeout(() => build(`${folder}/${name}`), 100)
  })
}

function build(reason) {
  if (running) {
    again = true
    return
  }
  running = true
  const began = Date.now()
  spawn(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" }).on("exit", (code) => {
    running = false
    const time = new Date().toTimeString().slice(0, 8)
    const outcome = code === 0 ? `Built in ${Date.now() - began} ms` : "The build failed; dist is unchanged"
    console.log(`${time} ${outcome} (${reason}).`)
    if (again) {
      again = false
      build("changed while building")
    }
  })
}
