-- Runs inside nginx. `rules.lua` is written by the benchmark: role -> method -> patterns.
local base64 = require "ngx.base64"
local cjson = require "cjson.safe"
local ffi = require "ffi"
local settings = require "rules"

-- OpenSSL, which nginx is linked with.
ffi.cdef [[
  typedef struct evp_md_st EVP_MD;
  const EVP_MD *EVP_sha256(void);
  unsigned char *HMAC(const EVP_MD *md, const void *key, int key_len, const unsigned char *d, size_t n,
    unsigned char *out, unsigned int *out_len);
]]
local sha256 = ffi.C.EVP_sha256()
local digest = ffi.new "unsigned char[32]"

local function signature_of(text)
  ffi.C.HMAC(sha256, settings.secret, #settings.secret, text, #text, digest, nil)
  return base64.encode_base64url(ffi.string(digest, 32))
end

local function decoded(part)
  local text = base64.decode_base64url(part)
  return text and cjson.decode(text)
end

local function claims_of(token)
  local header, payload, signature = token:match "^([^.]+)%.([^.]+)%.([^.]+)$"
  if not header or signature_of(header .. "." .. payload) ~= signature then return nil end
  local head, claims = decoded(header), decoded(payload)
  if not head or head.alg ~= "HS256" then return nil end
  return claims and claims.exp and claims.exp > ngx.time() and claims or nil
end

local function is_allowed(role, method, path)
  local methods = settings.rules[role]
  for _, pattern in ipairs(methods and methods[method] or {}) do
    if ngx.re.find(path, pattern, "jo") then return true end
  end
  return false
end

local function check()
  local credentials = ngx.var.http_authorization or ""
  local claims = credentials:sub(1, 7) == "Bearer " and claims_of(credentials:sub(8))
  if not claims then return ngx.exit(401) end
  if not is_allowed(claims.rolekey, ngx.req.get_method(), ngx.var.uri) then return ngx.exit(403) end
  ngx.var.user_id = claims.identity
  ngx.var.role_key = claims.rolekey
  ngx.var.data_scope = claims.datascope
end

return { check = check }
