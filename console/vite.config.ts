import { fileURLToPath } from "node:url"
import react from "@vitejs/plugin-react"
import { build } from "esbuild"
import { defineConfig, type Plugin } from "vite"

const checkMessages = fileURLToPath(new URL("../src/messages/checks.ts", import.meta.url))

/** Puts the table of the checks' sentences in the place of the checks, which do not run in a browser. */
const evaluatedCheckMessages: Plugin = {
  name: "evaluated check messages",
  enforce: "pre",
  async load(id) {
    if (id !== checkMessages) return undefined
    const { outputFiles } = await build({
      entryPoints: [id],
      bundle: true,
      write: false,
      platform: "node",
      format: "esm",
    })
    const { checkMessages: table } = (await import(
      `data:text/javascript;base64,${Buffer.from(outputFiles[0]!.contents).toString("base64")}`
    )) as { checkMessages: Record<string, string> }
    return `export const checkMessages = ${JSON.stringify(table)}`
  },
}

/** Mode `mock` plays a server (console/dev); every other mode passes requests on to a real one. */
export default defineConfig(async ({ mode }) => ({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [
    evaluatedCheckMessages,
    react(),
    ...(mode === "mock" ? [(await import("./dev/mock.ts")).mockServer()] : []),
  ],
  // Inlined files would be `data:` addresses, which the page's content security policy does not allow.
  build: {
    assetsInlineLimit: 0,
    emptyOutDir: true,
    outDir: "../dist/console",
    target: "es2023",
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  // The console shares src/lib with the server.
  server: {
    fs: { allow: [".."] },
    // The server takes pages of its own address only: it must see the one that the browser opened.
    proxy:
      mode === "mock"
        ? undefined
        : { "/v1": { target: process.env["QM_SERVER"] ?? "http://127.0.0.1:7420", changeOrigin: false } },
  },
}))
