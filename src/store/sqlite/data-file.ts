import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs"
import { open } from "node:fs/promises"
import { StoreUnavailable } from "../../core/ending.ts"

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK

/** Opens a file that Quartermaster wrote. Refuses links, pipes and folders, because it never writes those. */
export function openOwnFile(file: string): number {
  const descriptor = openSync(file, flags)
  if (fstatSync(descriptor).isFile()) return descriptor
  closeSync(descriptor)
  throw notRegular(file)
}

export function readOwnFileSync(file: string): Buffer {
  const descriptor = openOwnFile(file)
  try {
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The same without blocking. */
export async function readOwnFile(file: string): Promise<Buffer> {
  const handle = await open(file, flags)
  try {
    if (!(await handle.stat()).isFile()) throw notRegular(file)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

function notRegular(file: string): StoreUnavailable {
  return new StoreUnavailable(`${file} is not a regular file, so Quartermaster did not write it. Check what it is and move it away.`) // prettier-ignore
}
