import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs"
import { open } from "node:fs/promises"
import { StoreUnavailable } from "../model/ending.ts"

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK

/** A descriptor to read a file of ours by. A link is not followed and a pipe not waited for; neither is ours. */
export function openPlain(file: string): number {
  const descriptor = openSync(file, flags)
  if (fstatSync(descriptor).isFile()) return descriptor
  closeSync(descriptor)
  throw notPlain(file)
}

export function readPlain(file: string): Buffer {
  const descriptor = openPlain(file)
  try {
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The same without holding up others. */
export async function readPlainLater(file: string): Promise<Buffer> {
  const handle = await open(file, flags)
  try {
    if (!(await handle.stat()).isFile()) throw notPlain(file)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

function notPlain(file: string): StoreUnavailable {
  return new StoreUnavailable(`${file} is no plain file, so Quartermaster has not written it. Look at it, and move it away.`) // prettier-ignore
}
