// The runtime itself reads this file, so its import is the real one.
module.exports = (address) => import(address)
