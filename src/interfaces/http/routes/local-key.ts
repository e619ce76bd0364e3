/** The header with the key of the server's own machine. It imports nothing, because the hooks' client is started for every call. */
export const localKeyHeader = "x-quartermaster-local"
