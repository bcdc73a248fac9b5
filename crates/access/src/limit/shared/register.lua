-- Notes that a replica is there, forgets those that were not heard of, and answers how many there are.
-- KEYS[1]: the replicas by when they were last heard of. ARGV: the replica, milliseconds until it is forgotten.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
