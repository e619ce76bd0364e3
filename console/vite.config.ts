import { fileURLToPath } from "node:url"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

/** Mode `mock` plays a server (console/dev); every other mode passes requests on to a real one. */
export default defineConfig(async ({ mode }) => ({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [react(), ...(mode === "mock" ? [(await import("./dev/mock.ts")).mockServer()] : [])],
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
