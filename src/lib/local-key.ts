// Programs that are started often read this file. It imports nothing.

/** The header with the key of the server's own machine. */
export const localKeyHeader = "x-quartermaster-local"

/** The path at which `qm mcp` leaves HTTP, and the protocol that it takes up. */
export const localMcpPath = "/local/mcp"
export const localMcpProtocol = "quartermaster-mcp"
