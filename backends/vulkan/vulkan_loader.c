/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_loader.c -- libvulkan.so.1 and the one VkInstance of the process.
 *
 * Neither is ever closed once it is of use: with the last VkInstance the loader unloads its
 * drivers, and what they keep for the process then looks like a leak, or is one. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backends/vulkan/vulkan.h"

#define LAYER "VK_LAYER_KHRONOS_validation"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vulkan_loader the_loader; /* handle VK_NULL_HANDLE: not yet */
static PFN_vkGetInstanceProcAddr get_proc;

/* ---- what the validation layer says ---- */

static atomic_ullong messages, told;
static char first_message[1024]; /* since the last that was told; with message_lock */
static pthread_mutex_t message_lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t vulkan_messages(void)
{
    return atomic_load(&messages);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *cookie)
{
    (void)severity;
    (void)types;
    (void)cookie;
    pthread_mutex_lock(&message_lock);
    if (atomic_fetch_add(&messages, 1) == atomic_load(&told))
        (void)snprintf(first_message, sizeof first_message, "%.1000s",
                       data->pMessage != NULL ? data->pMessage : "no text");
    pthread_mutex_unlock(&message_lock);
    return VK_FALSE;
}

assay_status vulkan_tell_messages(assay_instance *instance)
{
    char text[sizeof first_message];
    bool any;

    if (atomic_load(&messages) == atomic_load(&told))
        return ASSAY_OK;
    pthread_mutex_lock(&message_lock);
    any = atomic_load(&messages) != atomic_load(&told);
    memcpy(text, first_message, sizeof text);
    atomic_store(&told, atomic_load(&messages));
    pthread_mutex_unlock(&message_lock);
    return any ? assay__host_fail(instance, ASSAY_DEVICE, "validation layer: %s", text) : ASSAY_OK;
}

static const VkDebugUtilsMessengerCreateInfoEXT messenger = {
    .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
    .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
    .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
    .pfnUserCallback = on_message,
};

static bool wants_validation(void)
{
    const char *text = getenv("ASSAY_VULKAN_VALIDATE");

    return text != NULL && text[0] != '\0' && strcmp(text, "0") != 0;
}

/* ---- opening ---- */

static PFN_vkVoidFunction proc(VkInstance handle, const char *name)
{
    return get_proc(handle, name);
}

static assay_status open_library(assay_instance *instance)
{
    const char *chosen = getenv("ASSAY_VULKAN");
    const char *path = chosen != NULL && chosen[0] != '\0' ? chosen : "libvulkan.so.1";

    if (get_proc != NULL)
        return ASSAY_OK;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE,
                                "no Vulkan loader: %.300s; install libvulkan1 or set ASSAY_VULKAN",
                                dlerror());
    void *symbol = dlsym(handle, "vkGetInstanceProcAddr");
    if (symbol == NULL) {
        (void)dlclose(handle);
        return assay__host_fail(instance, ASSAY_UNAVAILABLE,
                                "%.200s is no Vulkan loader: it lacks vkGetInstanceProcAddr", path);
    }
    memcpy(&get_proc, &symbol, sizeof get_proc);
    return ASSAY_OK;
}

#define FILL(handle_, table, name)                           \
    table.name = (PFN_vk##name)proc((handle_), "vk" #name);  \
    if (table.name == NULL)                                  \
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, \
                                "the Vulkan loader lacks vk" #name "; it is older than 1.2");

static assay_status fill_loader(assay_instance *instance, vulkan_calls *call)
{
#define X(name) FILL(VK_NULL_HANDLE, (*call), name)
    VULKAN_LOADER_CALLS(X)
#undef X
    return ASSAY_OK;
}

static assay_status fill_instance(assay_instance *instance, VkInstance handle, vulkan_calls *call)
{
#define X(name) FILL(handle, (*call), name)
    VULKAN_INSTANCE_CALLS(X)
#undef X
    call->GetTimeDomains = (PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT)proc(
        handle, "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT");
    return ASSAY_OK;
}

static bool has_layer(const vulkan_calls *call)
{
    uint32_t count = 0;
    bool found = false;

    if (call->EnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS || count == 0)
        return false;
    VkLayerProperties *list = calloc(count, sizeof *list);
    if (list != NULL && call->EnumerateInstanceLayerProperties(&count, list) >= VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++)
            found = found || strcmp(list[i].layerName, LAYER) == 0;
    free(list);
    return found;
}

static assay_status make_instance(assay_instance *instance, const vulkan_calls *call,
                                  VkInstance *out)
{
    static const char *const layers[] = {LAYER};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    const uint32_t validates = wants_validation();
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "assay",
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = validates ? &messenger : NULL,
                                       .pApplicationInfo = &application,
                                       .enabledLayerCount = validates,
                                       .ppEnabledLayerNames = layers,
                                       .enabledExtensionCount = validates,
                                       .ppEnabledExtensionNames = extensions};

    if (validates && !has_layer(call))
        return assay__host_fail(instance, ASSAY_UNAVAILABLE,
                                "ASSAY_VULKAN_VALIDATE is set and " LAYER
                                " is not here; install vulkan-validationlayers");
    const VkResult result = call->CreateInstance(&info, NULL, out);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE,
                                "no Vulkan driver here; install that of the device, or "
                                "mesa-vulkan-drivers (a CPU will do)");
    if (result != VK_SUCCESS)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "vkCreateInstance gave %d",
                                (int)result);
    return ASSAY_OK;
}

static void start_messenger(VkInstance handle)
{
    VkDebugUtilsMessengerEXT made; /* lives as long as the instance */
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)proc(handle, "vkCreateDebugUtilsMessengerEXT");

    if (wants_validation() && create != NULL)
        (void)create(handle, &messenger, NULL, &made);
}

/* Nobody will use it: whoever tries again makes another. */
static void drop_instance(VkInstance handle)
{
    const PFN_vkDestroyInstance destroy = (PFN_vkDestroyInstance)proc(handle, "vkDestroyInstance");

    if (destroy != NULL)
        destroy(handle, NULL);
}

static assay_status open_once(assay_instance *instance)
{
    vulkan_loader made = {.handle = VK_NULL_HANDLE};

    if (the_loader.handle != VK_NULL_HANDLE)
        return ASSAY_OK;
    ASSAY_TRY(open_library(instance));
    ASSAY_TRY(fill_loader(instance, &made.call));
    ASSAY_TRY(make_instance(instance, &made.call, &made.handle));
    const assay_status status = fill_instance(instance, made.handle, &made.call);
    if (status != ASSAY_OK) {
        drop_instance(made.handle);
        return status;
    }
    start_messenger(made.handle);
    the_loader = made;
    return ASSAY_OK;
}

assay_status vulkan_loader_get(assay_instance *instance, const vulkan_loader **out)
{
    pthread_mutex_lock(&lock);
    assay_status status = open_once(instance);
    pthread_mutex_unlock(&lock);
    *out = &the_loader;
    return status;
}
