// Tells which line of a script calls a function of fs, by a write that is not made; see lines.go.
'use strict'
const fs = require('fs'), children = require('child_process')
const write = fs.writeSync
let waiting = 0
const tell = at => { try { write(2, '\x01lockpick line:' + at) } catch {} }
tell('0::')
if (process.argv[1]) process.argv[1] = require('path').resolve(process.argv[1]) // before, the working directory was not told
const here = () => {
  const old = Error.stackTraceLimit, prepare = Error.prepareStackTrace
  Error.stackTraceLimit = 30
  Error.prepareStackTrace = (_, frames) => frames
  const frames = new Error().stack
  Error.stackTraceLimit = old
  Error.prepareStackTrace = prepare
  for (const f of frames) {
    const name = (f.getFileName() || '').replace(/^file:\/\//, '')
    if (name.startsWith('/') && name !== __filename && !name.includes('/node_modules/')) {
      return f.getLineNumber() + ':' + (f.getFunctionName() || '') + ':' + name
    }
  }
  return '0::'
}
const around = (object, name, then) => {
  const f = object[name]
  const wrapped = function (...args) {
    tell(waiting ? '0::' : here())
    return then(f.apply(this, args))
  }
  Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(f))
  object[name] = wrapped
}
// A call that goes on beside the program has its line while it is the only one.
let handles = false
const later = p => {
  if (!p || typeof p.then !== 'function') return p
  waiting++
  const end = () => { waiting-- }
  p.then(end, end)
  return p
}
for (const name of Object.keys(fs)) {
  if (name.endsWith('Sync') && typeof fs[name] === 'function') around(fs, name, x => x)
}
for (const name of Object.keys(fs.promises)) {
  if (typeof fs.promises[name] === 'function') {
    around(fs.promises, name, p => later(name !== 'open' ? p : p.then(h => {
      if (typeof h.close === 'function') around(h, 'close', later)
      const proto = Object.getPrototypeOf(h)
      for (const m of handles ? [] : Object.getOwnPropertyNames(proto)) {
        const d = Object.getOwnPropertyDescriptor(proto, m)
        if (!['constructor', 'close'].includes(m) && d.writable && typeof d.value === 'function') around(proto, m, later)
      }
      handles = true
      return h
    })))
  }
}
for (const name of ['execSync', 'execFileSync', 'spawnSync']) around(children, name, x => x)
require('module').syncBuiltinESMExports()
