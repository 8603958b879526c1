function foreign(o) {
  while (Object.getPrototypeOf(o) !== null)
    o = Object.getPrototypeOf(o);
  return o !== Object.prototype && Reflect.has(o, 'hasOwnProperty');
}
function reached(f) {
  return foreign(f) || f('return process')().pid > 0;
}
